/**
 * A folder for the time of one command. A signal that ends the command removes it too, and so does an
 * exit at once: a reader that closes the pipe early ends `chain export - | head` in that way.
 */
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
  process.once('exit', removeFolder);
  const remove = (): void => {
    ending.forget();
    process.removeListener('exit', removeFolder);
    removeFolder();
  };
  return { path, remove };
}
