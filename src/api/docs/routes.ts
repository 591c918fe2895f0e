/** The interface description and the page that shows it (rest-api.md §3.4). */
import type { HttpReply, HttpRoute } from '../../base/http.ts';
import { Answer, JSON_TYPE, print } from '../answer.ts';
import { type Description, openApi } from '../openapi.ts';
import type { AnyRoute } from '../route.ts';
import { html } from './page.ts';
import { script } from './script.ts';
import { style } from './style.ts';

const INDEX = '/api-docs/index.html';
// Nothing from elsewhere, nothing inline, and no other site may frame the page.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const safe = [
  ['content-security-policy', POLICY],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
] as const;

export function docsRoutes(routes: readonly AnyRoute[], description: Description): HttpRoute[] {
  const document = new Answer(200, JSON_TYPE, print(openApi(routes, description)));
  const moved = new Answer(308, '', '', [['location', INDEX]]);
  return [
    ...['/', '/swagger', '/swagger/', '/api-docs', '/api-docs/'].map((path) => fixed(path, moved)),
    fixed('/api-docs/swagger.json', document),
    fixed('/api-docs/open-api.json', document),
    fixed(INDEX, new Answer(200, 'text/html; charset=utf-8', html, safe)),
    fixed('/api-docs/page.js', new Answer(200, 'text/javascript; charset=utf-8', script, safe)),
    fixed('/api-docs/page.css', new Answer(200, 'text/css; charset=utf-8', style, safe)),
  ];
}

const fixed = (pattern: string, reply: HttpReply): HttpRoute => ({
  method: 'GET',
  pattern,
  maxBody: 0,
  keep: [],
  handle: () => reply,
});
