/** Several nodes of one network on this machine, each in its own process and folder. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { noteOfNewKey, notePath } from '../../src/node/finality/voter-note.ts';
import { freePort } from '../measure/free-port.ts';
import type { DevFolder } from './dev-folder.ts';
import { until } from './funded.ts';
import { tipOf } from './headers.ts';
import { type NodeOptions, type NodeProcess, startNode } from './node-process.ts';

export interface Member {
  /** Its log is in here. */
  readonly dir: string;
  readonly dataDir: string;
  start(options?: NodeOptions): Promise<NodeProcess>;
}

/**
 * The first one is the owner with the folder's own chain; the others begin with nothing, unless
 * something is put into their `dataDir` before.
 */
export async function makeMembers(folder: DevFolder, count: number): Promise<Member[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  const places = ports.map((port) => `127.0.0.1:${port}`);
  return folder.members.slice(0, count).map((owner, i): Member => {
    const dir = join(folder.dir, `member-${i}`);
    const dataDir = i === 0 ? join(folder.dir, 'data') : join(dir, 'data');
    for (const place of [dir, dataDir]) mkdirSync(place, { recursive: true });
    if (folder.finality) giveNote(folder, i, dir);
    const set = [
      `owner-address=${owner}`,
      `directory=${dir}`,
      `data-directory=${dataDir}`,
      'network.listen=yes',
      `network.port=${ports[i]}`,
      `network.declared-address=${places[i]}`,
      `network.node-name=member ${i}`,
      `network.known-peers=${JSON.stringify(places.filter((place) => place !== places[i]))}`,
      'network.attempt-connection-delay=200ms',
      'network.suspension-residence-time=1s',
    ];
    return {
      dir,
      dataDir,
      start: (options = {}) =>
        startNode(
          { dir, config: folder.config },
          { ...options, set: [...set, ...(options.set ?? [])] },
        ),
    };
  });
}

/** The owner has voted while the folder was made; the keys of the others are new. */
function giveNote({ dir: directory, publicKeys, scheme }: DevFolder, i: number, dir: string): void {
  const path = notePath({ directory: dir });
  if (i === 0) copyFileSync(notePath({ directory }), path);
  else writeFileSync(path, noteOfNewKey(publicKeys[i]!, scheme));
}

/** Resolves when each of these nodes has a session with every other one. */
export const connected = (nodes: readonly NodeProcess[]): Promise<void> =>
  until('sessions of all nodes', async () => {
    const counts = await Promise.all(
      nodes.map(async (node) => {
        const { peers } = (await node.get('/peers/connected')) as { peers: unknown[] };
        return peers.length;
      }),
    );
    return counts.every((count) => count >= nodes.length - 1);
  });

/** Resolves when all have the same newest block and nothing unconfirmed. */
export const settled = (nodes: readonly NodeProcess[]): Promise<void> =>
  until('one chain and empty pools', async () => {
    const states = await Promise.all(
      nodes.map(async (node) => {
        const { size } = (await node.get('/transactions/unconfirmed/size')) as { size: number };
        return { size, tip: (await tipOf(node)).signature };
      }),
    );
    return states.every(({ size, tip }) => size === 0 && tip === states[0]?.tip);
  });
