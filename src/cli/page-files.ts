/** Reads the files of the pages, both from the sources and from the published build. */
import { readdirSync, readFileSync } from 'node:fs';
import type { PageFiles, Pages } from '../api/pages.ts';

export const readPages = (): Required<Pages> => ({
  explorer: filesIn(new URL('../api/explorer/page/', import.meta.url)),
  docs: filesIn(new URL('../api/docs/page/', import.meta.url)),
});

/** The explorer of the data service: the same page, with further files. */
export function readDataPages(): Required<Pages> {
  const { explorer, docs } = readPages();
  const more = filesIn(new URL('../data-service/page/', import.meta.url));
  return { docs, explorer: withSearch(explorer, more) };
}

const INDEX = 'index.html';

/** Tells the page where the node's answers are, which makes it load the further files. */
function withSearch(explorer: PageFiles, more: PageFiles): PageFiles {
  const page = new TextDecoder().decode(explorer.get(INDEX));
  const searchable = page
    .replace('<body>', '<body data-node="node-api/">')
    .replace('</head>', '<link rel="stylesheet" href="explorer/data.css">\n</head>');
  return new Map([...explorer, ...more, [INDEX, new TextEncoder().encode(searchable)]]);
}

function filesIn(folder: URL): PageFiles {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder))]));
}
