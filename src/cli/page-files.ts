/** Reads the files of the pages, both from the sources and from the published build. */
import { readdirSync, readFileSync } from 'node:fs';
import type { PageFiles, Pages } from '../api/pages.ts';

export const readPages = (): Required<Pages> => ({
  explorer: filesIn(new URL('../api/explorer/page/', import.meta.url)),
  docs: filesIn(new URL('../api/docs/page/', import.meta.url)),
});

function filesIn(folder: URL): PageFiles {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder))]));
}
