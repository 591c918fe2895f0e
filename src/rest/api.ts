/** The whole REST API as routes for the HTTP port. */
import type { HttpRoute } from '../base/http.ts';
import { descriptionRoutes, docsRoutes } from '../rest-framework/docs/docs-routes.ts';
import type { Description } from '../rest-framework/openapi.ts';
import type { Pages } from '../rest-framework/pages.ts';
import { mount } from '../rest-framework/server.ts';
import { explorerRoutes } from './explorer/explorer-routes.ts';
import { routes } from './routes/index.ts';
import type { Services } from './services.ts';

export function createApi(
  services: Services,
  description: Omit<Description, 'version'> = {},
  { docs, explorer }: Pages = {},
): HttpRoute[] {
  const version = services.node.version;
  return [
    ...mount(routes, services),
    ...descriptionRoutes(routes, { ...description, version }),
    ...(docs === undefined ? [] : docsRoutes(docs)),
    ...(explorer === undefined ? [] : explorerRoutes(explorer)),
  ];
}
