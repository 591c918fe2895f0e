/** The explorer: a page that shows the chain to people. It uses only the REST API of this node. */
import type { HttpRoute } from '../../base/http.ts';
import { fixed, movedTo, type PageFiles, pageRoutes } from '../../rest-framework/pages.ts';

const PAGE = '/explorer';

/** The links in the page are relative to /explorer, so that a proxy may serve it below a path. */
export const explorerRoutes = (files: PageFiles): HttpRoute[] => [
  ...pageRoutes(files, PAGE, PAGE),
  fixed(`${PAGE}/`, movedTo(PAGE)),
];
