/**
 * Pages for people: the explorer and the interface description. The browser gets their files
 * unchanged from a folder `page`. The command that starts a node reads these files and passes them
 * in.
 */
import type { HttpReply, HttpRoute } from '../base/ports/http.ts';
import { Answer } from './answer.ts';

/** Name → bytes of every file of a page. */
export type PageFiles = ReadonlyMap<string, Uint8Array>;

/** The files of both pages; a page without files is not served. */
export interface Pages {
  readonly explorer?: PageFiles;
  readonly docs?: PageFiles;
}

// The page may load nothing from elsewhere and nothing inline, and no other site may frame it.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = [
  ['content-security-policy', POLICY],
  ['referrer-policy', 'no-referrer'],
  // A new release replaces all files.
  ['cache-control', 'no-cache'],
] as const;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The files of `folder`; `index.html` is served at `index`. */
export function pageRoutes(files: PageFiles, folder: string, index: string): HttpRoute[] {
  const routes: HttpRoute[] = [];
  for (const [name, bytes] of files) {
    const type = TYPES[name.split('.').at(-1) ?? ''];
    if (type === undefined) continue;
    const path = name === 'index.html' ? index : `${folder}/${name}`;
    routes.push(fixed(path, new Answer(200, type, bytes, HEADERS)));
  }
  return routes;
}

/** The same reply to every request for a path. */
export const fixed = (pattern: string, reply: HttpReply): HttpRoute => ({
  method: 'GET',
  pattern,
  maxBody: 0,
  keep: [],
  handle: () => reply,
});

/** The reply that redirects the client permanently. */
export const movedTo = (path: string): Answer => new Answer(308, '', '', [['location', path]]);
