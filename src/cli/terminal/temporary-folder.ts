/** A folder for the time of one command. A signal that ends the command removes it too. */
import { mkdtempSync, rmSync } from 'node:fs';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export interface TemporaryFolder {
  readonly path: string;
  /** Does nothing where the folder has been renamed. */
  remove(): void;
}

/** `prefix`: the path but for six letters. */
export function temporaryFolder(prefix: string): TemporaryFolder {
  const path = mkdtempSync(prefix);
  const remove = (): void => {
    for (const signal of SIGNALS) process.removeListener(signal, stop);
    rmSync(path, { recursive: true, force: true });
  };
  const stop = (signal: NodeJS.Signals): void => {
    try {
      remove();
    } finally {
      process.kill(process.pid, signal);
    }
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  return { path, remove };
}
