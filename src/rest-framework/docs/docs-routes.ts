/** The interface description (rest.md#interface-description), and the pages of a program. */
import type { HttpRoute } from '../../base/ports/http.ts';
import { Answer, JSON_TYPE, print } from '../answer.ts';
import { type Description, openApi } from '../openapi.ts';
import { fixed, movedTo, type Pages, pageRoutes } from '../pages.ts';
import type { AnyRoute } from '../route.ts';

const FOLDER = '/api-docs';
const INDEX = `${FOLDER}/index.html`;
/** The links in its page are relative to this path, so that a proxy may serve it below another. */
const EXPLORER = '/explorer';

/** `home`: the page to which `/` leads. `names`: under which the description is found, too. */
export function descriptionRoutes(
  routes: readonly AnyRoute[],
  description: Description,
  pages: Pages = {},
  home: keyof Pages = 'docs',
  names: readonly string[] = [],
): HttpRoute[] {
  const { docs, explorer } = pages;
  const document = new Answer(200, JSON_TYPE, print(openApi(routes, description)));
  const at = (to: string, ...paths: readonly string[]): HttpRoute[] =>
    paths.map((path) => fixed(path, movedTo(to)));
  return [
    ...['swagger.json', 'open-api.json', ...names].map((name) =>
      fixed(`${FOLDER}/${name}`, document),
    ),
    ...(pages[home] === undefined ? [] : at(home === 'docs' ? INDEX : EXPLORER, '/')),
    ...(docs === undefined
      ? []
      : [
          ...at(INDEX, '/swagger', '/swagger/', FOLDER, `${FOLDER}/`),
          ...pageRoutes(docs, FOLDER, INDEX),
        ]),
    ...(explorer === undefined
      ? []
      : [...pageRoutes(explorer, EXPLORER, EXPLORER), ...at(EXPLORER, `${EXPLORER}/`)]),
  ];
}
