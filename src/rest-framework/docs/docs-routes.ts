/** The interface description and the page that shows it (rest.md#interface-description). */
import type { HttpRoute } from '../../base/http.ts';
import { Answer, JSON_TYPE, print } from '../answer.ts';
import { type Description, openApi } from '../openapi.ts';
import { fixed, movedTo, type PageFiles, pageRoutes } from '../pages.ts';
import type { AnyRoute } from '../route.ts';

const FOLDER = '/api-docs';
const INDEX = `${FOLDER}/index.html`;

export function descriptionRoutes(
  routes: readonly AnyRoute<never>[],
  description: Description,
  names: readonly string[] = [],
): HttpRoute[] {
  const document = new Answer(200, JSON_TYPE, print(openApi(routes, description)));
  return ['swagger.json', 'open-api.json', ...names].map((name) =>
    fixed(`${FOLDER}/${name}`, document),
  );
}

export const docsRoutes = (files: PageFiles): HttpRoute[] => [
  ...['/', '/swagger', '/swagger/', FOLDER, `${FOLDER}/`].map((path) =>
    fixed(path, movedTo(INDEX)),
  ),
  ...pageRoutes(files, FOLDER, INDEX),
];
