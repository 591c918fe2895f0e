/**
 * The explorer: a page that shows the chain to people, from this node's own REST API alone
 * (architecture.md §14). Its files are in `page/`, as the browser gets them; whoever starts a node
 * reads them from there and hands them over.
 */
import type { HttpReply, HttpRoute } from '../../base/http.ts';
import { Answer } from '../answer.ts';

/** Name → bytes of every file of the page. */
export type ExplorerFiles = ReadonlyMap<string, Uint8Array>;

const PAGE = '/explorer';
const INDEX = 'index.html';

// Nothing from elsewhere, nothing inline, and no other site may frame the page.
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
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  // A release brings all files anew.
  ['cache-control', 'no-cache'],
] as const;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

export function explorerRoutes(files: ExplorerFiles): HttpRoute[] {
  const routes: HttpRoute[] = [];
  for (const [name, bytes] of files) {
    const type = TYPES[name.split('.').at(-1) ?? ''];
    if (type === undefined) continue;
    const pattern = name === INDEX ? PAGE : `${PAGE}/${name}`;
    routes.push(fixed(pattern, new Answer(200, type, bytes, HEADERS)));
  }
  // The names in the page are relative to /explorer, so that a proxy may put it below a path.
  if (routes.length > 0) {
    routes.push(fixed(`${PAGE}/`, new Answer(308, '', '', [['location', PAGE]])));
  }
  return routes;
}

const fixed = (pattern: string, reply: HttpReply): HttpRoute => ({
  method: 'GET',
  pattern,
  maxBody: 0,
  keep: [],
  handle: () => reply,
});
