/**
 * Leased proof of stake with fair delays (consensus.md#proof-of-stake). An account may make the
 * next block after a delay. The delay follows from its generating balance and from a hash that no
 * account can choose.
 */
import { base58 } from '../base/base58.ts';
import { concat, equal } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import type { ConsensusData, PosData } from '../block/header.ts';
import type { ChainScheme } from '../codec/codec.ts';
import {
  type Consensus,
  type ConsensusView,
  checkMiner,
  type JudgedHeader,
  type MinerIdentity,
  type Parent,
} from './consensus.ts';
import {
  delayOf,
  HIT_DEPTH,
  hitOf,
  MIN_GENERATING_BALANCE,
  nextBaseTarget,
  normalisation,
} from './pos-formulas.ts';

export interface PosSettings {
  /** The sum of all balances at genesis, in smallest units. */
  readonly initialBalance: bigint;
  /** Whole seconds. */
  readonly averageDelaySeconds: number;
}

export function createPos(settings: PosSettings, scheme: ChainScheme): Consensus {
  const norm = normalisation(settings.initialBalance);

  const signatureFor = (data: PosData, publicKey: Uint8Array): Uint8Array =>
    scheme.fastHash(concat(data.generationSignature, publicKey));

  const delay = (parent: Parent, miner: MinerIdentity, view: ConsensusView): number | undefined => {
    const { height, header } = parent;
    const source = height > HIT_DEPTH ? view.headerAt(height - HIT_DEPTH) : header;
    const hit = hitOf(signatureFor(posData(source.consensus), miner.publicKey));
    const balance = view.generatingBalance(miner.address, height);
    return delayOf(hit, posData(header.consensus).baseTarget, balance, norm);
  };

  const fields = (
    parent: Parent,
    publicKey: Uint8Array,
    timestamp: number,
    view: Pick<ConsensusView, 'headerAt'>,
  ): PosData => {
    const data = posData(parent.header.consensus);
    const ancestor = parent.height > 2 ? view.headerAt(parent.height - 2) : undefined;
    return {
      kind: 'pos',
      baseTarget: nextBaseTarget(
        data.baseTarget,
        timestamp,
        ancestor?.timestamp,
        settings.averageDelaySeconds,
      ),
      generationSignature: signatureFor(data, publicKey),
    };
  };

  return {
    kind: 'pos',
    nextSlot: (parent, miner, now, view) => {
      if (view.generatingBalance(miner.address, parent.height) < MIN_GENERATING_BALANCE) {
        return undefined;
      }
      const wait = delay(parent, miner, view);
      if (wait === undefined) return undefined;
      const start = parent.header.timestamp + wait;
      const from = Math.max(now, start);
      return view.isMiner(miner.address, from) ? { start, from, until: Infinity } : undefined;
    },
    fields: (parent, miner, timestamp, view) => fields(parent, miner.publicKey, timestamp, view),
    verifyHeader: (header, parent, view) =>
      checkData(header, fields(parent, header.generator, header.timestamp, view)),
    verify: (header, parent, view) => {
      const { generator: publicKey, timestamp } = header;
      const miner = { address: scheme.addressOf(publicKey), publicKey };
      checkMiner(miner.address, timestamp, view, scheme);
      checkBalance(view.generatingBalance(miner.address, parent.height));
      checkData(header, fields(parent, publicKey, timestamp, view));
      checkDelay(timestamp, parent.header.timestamp, delay(parent, miner, view));
    },
    finish: () => [],
    hasEnded: () => false,
    clearing: () => [],
    turnOf: ({ reference }) => `child of ${base58.encode(reference)}`,
    score: scorePos,
  };
}

export const scorePos = (data: ConsensusData): bigint => 2n ** 64n / posData(data).baseTarget;

function posData(data: ConsensusData): PosData {
  if (data.kind === 'pos') return data;
  throw apiError('Invalid', 'Expected PoS consensus block data, but got PoA instead');
}

function checkBalance(balance: bigint): void {
  if (balance >= MIN_GENERATING_BALANCE) return;
  throw apiError(
    'Invalid',
    `generator's effective balance ${balance} is less that required for generation`,
  );
}

function checkData(header: JudgedHeader, expected: PosData): void {
  const found = posData(header.consensus);
  if (found.baseTarget !== expected.baseTarget) {
    throw apiError(
      'Invalid',
      `declared baseTarget ${found.baseTarget} does not match ` +
        `calculated baseTarget ${expected.baseTarget}`,
    );
  }
  if (!equal(found.generationSignature, expected.generationSignature)) {
    throw apiError(
      'Invalid',
      'Generation signatures does not match: ' +
        `Expected = ${base58.encode(expected.generationSignature)}; ` +
        `Found = ${base58.encode(found.generationSignature)}`,
    );
  }
}

function checkDelay(timestamp: number, parentTimestamp: number, delay: number | undefined): void {
  const min = parentTimestamp + (delay ?? Infinity);
  if (timestamp >= min) return;
  throw apiError('Invalid', `Block timestamp ${timestamp} less than min valid timestamp ${min}`);
}
