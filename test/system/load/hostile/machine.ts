/**
 * What images and containers of a hostile author try on the machine of the engine, one row after the
 * other, where the operator has allowed the author's registry.
 */
import { statfsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { Test } from 'tap';
import { capacityOf } from '../../../../src/adapters/containers/capacity.ts';
import type { JsonObject } from '../../../../src/base/json/json.ts';
import { containersWith, engineJson } from '../../../containers/api.ts';
import type { Engine } from '../../../containers/engine.ts';
import { eventually } from '../../e2e/process.ts';
import type { NetworkNode } from '../../e2e/process-network.ts';
import { type Author, create, createExecuted } from './attack.ts';
import { hostileImage, type MachineRole } from './images.ts';
import type { HostileRegistry } from './registry.ts';

export const UNKNOWN_HASH = 'ab'.repeat(32);
/** Nobody listens there, and the operator allows it. */
export const CLOSED_REGISTRY = '127.0.0.1:1';

const CALL_FEE = 10_000_000;
/** A slow machine, which has other work too, takes long for each of them. */
const ROW_MS = 240_000;
/** Then a call that has run out of its time is sent again. */
const CALL_AGAIN_MS = 15_000;
const LABEL = 'platform-node.node';

/** The images that have been refused must leave all pools. */
export async function attackMachine(
  t: Test,
  engine: Engine,
  nodes: readonly NetworkNode[],
  author: Author,
  registry: HostileRegistry,
): Promise<readonly string[]> {
  const { rest, address } = author;
  const refused: string[] = [];

  /** Waits for a miner to say this: what filled the disk beside others is judged alone later. */
  const says = (id: string, message: string): Promise<unknown> =>
    eventually(
      `'${message}' of ${id}`,
      async () => {
        const { body } = await rest.get(`/contracts/status/${id}`);
        const list = Array.isArray(body) ? (body as JsonObject[]) : [];
        return list.some((one) => one['message'] === message) || undefined;
      },
      ROW_MS,
    );

  await t.test('images that lie, and fill the disk', async (t) => {
    for (const [image, words] of registry.refused) {
      const id = await create(image, author);
      refused.push(id);
      t.ok(await says(id, `Image '${image.image}' ${words}`));
    }
  });

  await t.test('names of images as a port scanner', async (t) => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const names = ['10.0.0.5:8080/x', '169.254.169.254/latest/meta-data', `127.0.0.1:${port}/x`];
    for (const image of names) {
      const id = await create({ image, imageHash: UNKNOWN_HASH }, author);
      refused.push(id);
      t.ok(await says(id, `Image '${image}' is not found`));
    }
    t.equal(connections, 0);
    const image = `${CLOSED_REGISTRY}/x`;
    const closed = await create({ image, imageHash: UNKNOWN_HASH }, author);
    t.ok(await says(closed, `Image '${image}' can't be fetched at present`));
  });

  /** Calls a new contract until this is so. */
  async function callUntil<T>(
    what: string,
    role: MachineRole,
    ask: (id: string) => Promise<T | undefined> | T | undefined,
  ): Promise<T> {
    const id = await createExecuted(await hostileImage(engine, role, []), author, ROW_MS);
    const call = { type: 104, version: 1, sender: address, contractId: id, params: [] };
    let next = 0;
    return await eventually(
      what,
      async () => {
        if (Date.now() > next) {
          await rest.broadcast(await rest.sign({ ...call, fee: CALL_FEE }));
          next = Date.now() + CALL_AGAIN_MS;
        }
        return await ask(id);
      },
      ROW_MS,
    );
  }

  await t.test('a container that takes what it gets of the machine, as another user', async (t) => {
    const user = await callUntil('who the contract runs as', 'greedy', async (id) => {
      const { status, body } = await rest.get(`/contracts/${id}/user`);
      return status === 200 ? (body as JsonObject)['value'] : undefined;
    });
    t.equal(user, '10001:10001');
  });

  await t.test('connections and traffic of one container', async () => {
    for (const [role, why] of [
      ['connections', 'it connects too often'],
      ['traffic', 'it sends too much'],
    ] as const) {
      const isEnded = () => nodes.some((node) => node.log().includes(why)) || undefined;
      await callUntil(`the end of ${role}`, role, isEnded);
    }
  });
  return refused;
}

export interface MachineUse {
  /** The most containers of one node at a time. */
  readonly most: number;
  /** As many as one node may have. */
  readonly allowed: number;
  /** What containers weigh that weigh more than their share. */
  readonly tooHeavy: readonly number[];
  end(): Promise<void>;
}

const LOOK_MS = 500;

/** Counts the containers of each node again and again. */
export async function watchMachine(
  { socketPath }: Engine,
  limits: { readonly memoryMb: number; readonly cpus: number },
): Promise<MachineUse> {
  const info = await engineJson<{ MemTotal: number; NCPU: number }>(socketPath, '/info');
  const { containers: allowed, cpuShares } = capacityOf(
    { memoryBytes: info.MemTotal, processors: info.NCPU },
    limits,
  );
  let most = 0;
  const tooHeavy: number[] = [];
  const seen = new Set<string>();
  let isOver = false;

  async function look(): Promise<void> {
    const all = await containersWith(socketPath, LABEL);
    const nodes = new Map<string, number>();
    for (const { Id, Labels } of all) {
      const node = Labels[LABEL]!;
      nodes.set(node, (nodes.get(node) ?? 0) + 1);
      if (seen.has(Id)) continue;
      seen.add(Id);
      const weight = await weightOf(Id);
      if (weight !== undefined && weight !== cpuShares) tooHeavy.push(weight);
    }
    most = Math.max(most, ...nodes.values());
  }
  async function weightOf(id: string): Promise<number | undefined> {
    try {
      const path = `/containers/${id}/json`;
      const one = await engineJson<{ HostConfig: { CpuShares: number } }>(socketPath, path);
      return one.HostConfig.CpuShares;
    } catch {
      // It is gone already.
      return undefined;
    }
  }
  const looking = (async () => {
    while (!isOver) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  })();
  return {
    get most() {
      return most;
    },
    allowed,
    tooHeavy,
    async end() {
      isOver = true;
      await looking;
    },
  };
}

/** Megabytes in use on the disk of the engine. */
export async function diskUse({ socketPath }: Engine): Promise<number> {
  const { DockerRootDir } = await engineJson<{ DockerRootDir: string }>(socketPath, '/info');
  const { blocks, bfree, bsize } = statfsSync(DockerRootDir);
  return Math.round(((blocks - bfree) * bsize) / 1024 / 1024);
}

/** Ids of the images that the engine has from this registry. */
export async function imagesOf({ socketPath }: Engine, domain: string): Promise<string[]> {
  const all = await engineJson<{ Id: string; RepoDigests: string[] | null }[]>(
    socketPath,
    '/images/json?all=1',
  );
  return all
    .filter(({ RepoDigests }) => RepoDigests?.some((name) => name.startsWith(`${domain}/`)))
    .map(({ Id }) => Id.replace('sha256:', ''));
}
