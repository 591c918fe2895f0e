/** The whole REST API as routes for the HTTP port. */
import type { HttpRoute } from '../base/http.ts';
import { docsRoutes } from './docs/routes.ts';
import { type ExplorerFiles, explorerRoutes } from './explorer/routes.ts';
import type { Description } from './openapi.ts';
import { routes } from './routes/index.ts';
import { mount } from './server.ts';
import type { Services } from './services.ts';

export function createApi(
  services: Services,
  description: Omit<Description, 'version'> = {},
  explorer: ExplorerFiles = new Map(),
): HttpRoute[] {
  const version = services.node.version;
  return [
    ...mount(routes, services),
    ...docsRoutes(routes, { ...description, version }),
    ...explorerRoutes(explorer),
  ];
}
