// A chain of headers under a consensus, without transactions. It replaces the rest of a node in the
// tests of consensus.

import type { ConsensusData } from '../../src/block/header.ts';
import type { BanHistory } from '../../src/consensus/ban-history.ts';
import type {
  BlockFacts,
  Consensus,
  ConsensusView,
  Parent,
} from '../../src/consensus/consensus.ts';
import { createPoa, type PoaSettings } from '../../src/consensus/poa.ts';
import { createRounds } from '../../src/consensus/poa-rounds.ts';
import { filled, scheme } from '../block/sample.ts';

export const G = 1_573_472_578_702;

export const poaSettings: PoaSettings = {
  genesisTimestamp: G,
  roundDurationMs: 17_000,
  syncDurationMs: 3_000,
  banDurationBlocks: 100,
  warningsForBan: 3,
  maxBansPercentage: 40,
  preActivatedFeatures: new Map(),
  featureCheckBlocks: 10,
};

export const R = 20_000;

/** Account n: its public key is 32 bytes n, its address the first 26 of them. */
export const publicKey = (n: number): Uint8Array => filled(32, n);
export const address = (n: number): Uint8Array => filled(26, n);
export const minerIdentity = (n: number) => ({ address: address(n), publicKey: publicKey(n) });
const nameOf = (account: Uint8Array): number => account[0]!;

const GENESIS_ACCOUNT = 255;

interface Made extends BlockFacts {
  readonly generator: Uint8Array;
  readonly signature: Uint8Array;
}

export interface Network {
  readonly poa: Consensus;
  readonly view: ConsensusView;
  /** Accounts in queue order. */
  queue: number[];
  /** Accounts with the role, when not the queue. */
  roles: number[] | undefined;
  readonly height: number;
  readonly parent: Parent;
  readonly blocks: readonly {
    readonly miner: number;
    readonly timestamp: number;
    readonly skipped: number;
  }[];
  readonly bans: ReadonlyMap<number, BanHistory>;
  /** A block of this account at this time, not judged. */
  block(miner: number, timestamp: number, fields?: Partial<{ consensus: ConsensusData }>): Made;
  /** Judges and appends. */
  append(miner: number, timestamp: number): void;
  /** Rounds first..last; miners for which `down` is true make no block. */
  run(first: number, last: number, down?: (miner: number) => boolean): void;
}

export function createNetwork(queue: number[], settings: Partial<PoaSettings> = {}): Network {
  const all = { ...poaSettings, ...settings };
  const poa = createPoa(all, scheme);
  const rounds = createRounds(all);
  const made: Made[] = [
    {
      timestamp: G,
      consensus: { kind: 'poa', skippedRounds: 0 },
      generator: publicKey(GENESIS_ACCOUNT),
      signature: filled(64, 0),
    },
  ];
  const bans = new Map<number, BanHistory>();
  const at = (height: number): Made => made[height - 1]!;
  const view: ConsensusView = {
    // The tests change the queue at any time.
    minersAt: (timestamp) => ({ members: network.queue.map(address), until: timestamp }),
    approvedAt: () => undefined,
    isMiner: (account) => (network.roles ?? network.queue).includes(nameOf(account)),
    banHistory: (account) => bans.get(nameOf(account)),
    generatorAt: (height) => address(nameOf(at(height).generator)),
    lastBlockBy: (account, height) => {
      for (let h = height; h > 0; h--) if (nameOf(at(h).generator) === nameOf(account)) return h;
      return undefined;
    },
    headerAt: at,
    generatingBalance: () => 0n,
  };
  const network: Network = {
    poa,
    view,
    queue,
    roles: undefined,
    bans,
    get height() {
      return made.length;
    },
    get parent() {
      return { height: made.length, header: at(made.length) };
    },
    get blocks() {
      return made.map((block, i) => {
        const round = rounds.numberAt(block.timestamp);
        const before = i === 0 ? round - 1 : rounds.numberAt(made[i - 1]!.timestamp);
        return {
          miner: nameOf(block.generator),
          timestamp: block.timestamp,
          skipped: round - before - 1,
        };
      });
    },
    block(miner, timestamp, fields = {}) {
      const consensus = poa.fields(network.parent, minerIdentity(miner), timestamp, view);
      const signature = filled(64, network.height % 256);
      return { timestamp, consensus, generator: publicKey(miner), signature, ...fields };
    },
    append(miner, timestamp) {
      const block = network.block(miner, timestamp);
      const parent = network.parent;
      poa.verify(block, parent, view);
      for (const { address, history } of poa.finish(block, parent, view)) {
        if (history === undefined) bans.delete(nameOf(address));
        else bans.set(nameOf(address), history);
      }
      made.push(block);
    },
    run(first, last, down = () => false) {
      for (let round = first; round <= last; round++) {
        const now = rounds.start(round);
        for (const miner of network.queue) {
          if (down(miner)) continue;
          const slot = poa.nextSlot(network.parent, minerIdentity(miner), now, view);
          if (slot?.from === now) network.append(miner, now);
        }
      }
    },
  };
  return network;
}
