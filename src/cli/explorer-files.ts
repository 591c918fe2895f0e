/** The files of the explorer, from the sources and from the published build alike. */
import { readdirSync, readFileSync } from 'node:fs';
import type { ExplorerFiles } from '../api/explorer/routes.ts';

const FOLDER = new URL('../api/explorer/page/', import.meta.url);

export function explorerFiles(): ExplorerFiles {
  const names = readdirSync(FOLDER);
  return new Map(names.map((name) => [name, readFileSync(new URL(name, FOLDER))]));
}
