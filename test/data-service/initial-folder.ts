/** The folder of an empty PGlite: initdb takes seconds each time. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { initialCluster } from './initial-cluster.ts';

/** Makes the folder and returns it. */
export async function initialFolder(folder: string): Promise<string> {
  const cluster = join(folder, 'pgdata');
  mkdirSync(cluster, { recursive: true });
  const input = Buffer.from(await (await initialCluster()).arrayBuffer());
  const { status } = spawnSync('tar', ['-x', '-C', cluster], { input });
  if (status !== 0) throw new Error(`tar ended with ${status}`);
  return folder;
}
