/** The folder that a command fills. */
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeFolder } from '../../adapters/folders.ts';
import { CliError } from './exit.ts';

/** Makes it where it is missing; its whole path. Throws CliError where something is in it. */
export function emptyFolder(dir: string): string {
  const folder = resolve(dir);
  let former: string[];
  try {
    makeFolder(folder);
    former = readdirSync(folder);
  } catch (cause) {
    throw new CliError(`${dir} cannot be made: ${(cause as Error).message}`);
  }
  if (former.length > 0) throw new CliError(`${dir} is not empty`);
  return folder;
}
