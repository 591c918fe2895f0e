/** A folder for the time of one command. A signal that ends the command removes it too. */
import { mkdtempSync, rmSync } from 'node:fs';
import { onSignalEnd } from './signal-end.ts';

export interface TemporaryFolder {
  readonly path: string;
  /** Does nothing where the folder has been renamed. */
  remove(): void;
}

/** `prefix`: the path but for six letters. */
export function temporaryFolder(prefix: string): TemporaryFolder {
  const path = mkdtempSync(prefix);
  const removeFolder = (): void => rmSync(path, { recursive: true, force: true });
  const ending = onSignalEnd(removeFolder);
  const remove = (): void => {
    ending.forget();
    removeFolder();
  };
  return { path, remove };
}
