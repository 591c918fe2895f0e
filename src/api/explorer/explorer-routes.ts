/** The explorer: a page that shows the chain to people, from this node's own REST API alone. */
import type { HttpRoute } from '../../base/http.ts';
import { fixed, movedTo, type PageFiles, pageRoutes } from '../pages.ts';

const PAGE = '/explorer';

/** The names in the page are relative to /explorer, so that a proxy may put it below a path. */
export const explorerRoutes = (files: PageFiles): HttpRoute[] => [
  ...pageRoutes(files, PAGE, PAGE),
  fixed(`${PAGE}/`, movedTo(PAGE)),
];
