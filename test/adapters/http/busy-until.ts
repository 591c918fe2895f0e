/** Keeps a thread busy until a file is there, for at most twenty seconds. */
import { existsSync } from 'node:fs';

const MS_MAX = 20_000;

export function busyUntil(path: string): void {
  const end = performance.now() + MS_MAX;
  while (!existsSync(path) && performance.now() < end);
}
