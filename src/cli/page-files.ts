/** Reads the files of the pages, both from the sources and from the published build. */
import { readdirSync, readFileSync } from 'node:fs';
import type { PageFiles, Pages } from '../rest-framework/pages.ts';

/** The pages of a node. */
export const readPages = (): Required<Pages> => ({
  explorer: new Map([...explorerFiles()].filter(([name]) => !OF_SEARCH.test(name))),
  docs: filesIn(new URL('../rest-framework/docs/page/', import.meta.url)),
});

/** Files of the explorer that only a data service serves. */
const OF_SEARCH = /^data[-.]/;

const explorerFiles = (): PageFiles => filesIn(new URL('../rest/explorer/page/', import.meta.url));

/** The explorer of the data service: the same page, which then loads further files of its folder. */
export function readDataPages(): Required<Pages> {
  return { ...readPages(), explorer: withSearch(explorerFiles()) };
}

const INDEX = 'index.html';

/** Tells the page where the node's answers are, which makes it load the further files. */
function withSearch(explorer: PageFiles): PageFiles {
  const page = new TextDecoder().decode(explorer.get(INDEX));
  const searchable = page
    .replace('<body>', '<body data-node="node-api/">')
    .replace('</head>', '<link rel="stylesheet" href="explorer/data.css">\n</head>');
  return new Map([...explorer, [INDEX, new TextEncoder().encode(searchable)]]);
}

function filesIn(folder: URL): PageFiles {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder))]));
}
