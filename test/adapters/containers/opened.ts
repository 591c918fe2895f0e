/** The port `Containers` on a real engine, and calls for it, for tests. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { ContainerInterface } from '../../../src/adapters/containers/container-interface.ts';
import {
  type ContainersDeps,
  type ContainersOptions,
  openContainers,
} from '../../../src/adapters/containers/containers.ts';
import { systemClock, systemRandom } from '../../../src/adapters/system.ts';
import type {
  Containers,
  ContractExecution,
  ContractImage,
  ContractOutcome,
  ContractReads,
  Readiness,
} from '../../../src/base/ports/containers.ts';
import type { Engine } from '../../containers/engine.ts';
import { type MemoryLog, memoryLog } from '../../node/memory-ports.ts';

let nodes = 0;

export interface Opened {
  readonly containers: Containers;
  readonly log: MemoryLog;
  /** Label of what belongs to this node, as the engine filters by it. */
  readonly label: string;
  readonly nodeName: string;
  /** File of the images that it has fetched. */
  readonly pulledImages: string;
}

export async function opened(
  scope: Test,
  engine: Pick<Engine, 'host'>,
  changes: Partial<ContainersOptions> = {},
  deps: Partial<ContainersDeps> = {},
): Promise<Opened> {
  const log = memoryLog();
  const nodeName = changes.nodeName ?? `test ${process.pid} ${nodes++}`;
  const folder = mkdtempSync(join(tmpdir(), 'pulled-images-'));
  const pulledImages = join(folder, 'pulled-images.json');
  const place = { engine: { host: engine.host }, nodeName, pulledImages };
  const options = { ...DEFAULTS, ...place, ...changes };
  const containers = await openContainers(options, { ...PORTS, log, grpc: NO_GRPC, ...deps });
  scope.teardown(async () => {
    await containers.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { pulledImages: file } = options;
  return { containers, log, label: labelOf(nodeName), nodeName, pulledImages: file };
}

const PORTS = { clock: systemClock(undefined), random: systemRandom };

/** For tests of the simple interface. */
export const NO_GRPC: ContainerInterface = {
  needsNetwork: false,
  open: () => Promise.reject(new Error('there is no gRPC here')),
  close: async () => {},
};

export const DEFAULTS: Omit<ContainersOptions, 'engine' | 'nodeName' | 'pulledImages'> = {
  perContainerMax: 1,
  removeAfterMs: 600_000,
  removeOnFail: true,
  reuse: true,
  checkRegistryAuth: false,
  protocolByCreateVersion: new Map([
    [1, 'exec'],
    [2, 'grpc'],
  ]),
  rest: undefined,
  pull: 'never',
  registries: [],
  allowedImages: [],
  imageSizeMax: 1024 ** 3,
  imageQuota: 4 * 1024 ** 3,
  pullMs: 60_000,
  defaultRegistryDomain: undefined,
  limits: { memoryMb: 64, memorySwapMb: 0, cpus: 1, pids: 32, cgroupParent: undefined },
  startupMs: 20_000,
  executionMs: 5000,
  allowNetAccess: false,
};

export const labelOf = (nodeName: string): string =>
  `platform-node.node=${createHash('sha256').update(nodeName).digest('hex').slice(0, 16)}`;

/** Of contracts for which it makes no difference. */
export const CREATOR = 'creator';

/** Asks until the answer is another one than `starting`. */
export async function prepared(
  containers: Containers,
  image: ContractImage,
  createVersion = 1,
  creator = CREATOR,
): Promise<Readiness> {
  for (const ends = performance.now() + 60_000; performance.now() < ends; ) {
    const answer = containers.prepare(image, createVersion, creator);
    if (answer.kind !== 'starting') return answer;
    await pause(10);
  }
  throw new Error('the container does not start');
}

/** Runs one call in a container that is made ready first. */
export async function called(
  containers: Containers,
  image: ContractImage,
  changes: CallChanges = {},
): Promise<ContractOutcome> {
  const readiness = await prepared(containers, image, changes.createVersion);
  if (readiness.kind === 'failure') return readiness;
  return containers.run(executionOf(image, changes));
}

export interface CallChanges {
  readonly createVersion?: number;
  readonly json?: string;
  readonly contractId?: string;
  readonly token?: string;
  readonly kind?: 'create' | 'call';
  readonly signal?: AbortSignal;
}

export function executionOf(image: ContractImage, changes: CallChanges = {}): ContractExecution {
  const { createVersion = 1, json = '{"type":104}', contractId = 'contract' } = changes;
  const { token = 'token', signal, kind = 'call' } = changes;
  return {
    image,
    createVersion,
    token,
    signal,
    reads: NO_READS,
    block: { height: 2, timestamp: 1, minerAddress: 'miner', reference: 'parent' },
    transaction: {
      ...{ id: 'tx', sender: 'sender', senderPublicKey: 'key', contractId, params: [], fee: 0n },
      ...{ feeAssetId: undefined, version: 1, proofs: new Uint8Array(), timestamp: 1 },
      json: () => json,
      data:
        kind === 'call'
          ? { kind, contractVersion: 1 }
          : { kind, ...image, contractName: 'a contract' },
    },
  };
}

/** The simple interface reads over REST, which another part of the node serves. */
const NO_READS = {} as ContractReads;

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

export async function until(holds: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  for (const ends = performance.now() + ms; performance.now() < ends; ) {
    if (await holds()) return;
    await pause(20);
  }
  throw new Error('it did not come true');
}

/**
 * The clock of the system, with as much more time as the test lets pass; a timer of `held` ms ends only
 * by that.
 */
export function passingClock(held?: number) {
  const clock = systemClock(undefined);
  let passed = 0;
  const timers = new Set<() => void>();
  return {
    clock: {
      ...clock,
      monotonic: () => clock.monotonic() + passed,
      after(ms: number, action: () => void) {
        const due = clock.monotonic() + passed + ms;
        const run = (): void => {
          cancel();
          action();
        };
        const look = (): void => {
          if (clock.monotonic() + passed >= due) run();
        };
        const end = ms === held ? () => undefined : clock.after(ms, run);
        const cancel = (): void => {
          end();
          timers.delete(look);
        };
        timers.add(look);
        return cancel;
      },
    },
    pass(ms: number): void {
      passed += ms;
      for (const look of [...timers]) look();
    },
  };
}
