/** Consensus. */

import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import type { HeaderRow } from '../../block/header-row.ts';
import { headerRowAt } from '../../chain/store/stored-blocks.ts';
import { bannedMiners } from '../../consensus/ban-history.ts';
import { generatingBalance } from '../../ledger/balance-history.ts';
import { minersInSteps } from '../../ledger/miner-queue.ts';
import { Int32, Int64 } from '../../rest-framework/body.ts';
import { listOf, objectOf, streamed } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { Services } from '../services.ts';
import { heightOf } from './blocks.ts';

const route = routesIn('consensus');
const NAMES = { pos: 'Fair Proof-of-Stake (FairPoS)', poa: 'Proof-of-Authority (PoA)' } as const;
const SHORT = { pos: 'PoS', poa: 'PoA' } as const;

type Kind = keyof typeof SHORT;

function requireKind(expected: Kind, { consensus }: Services): void {
  const actual = consensus.type;
  if (actual === expected) return;
  throw apiError(
    'Invalid',
    `Expected ${SHORT[expected]} consensus block data, but got ${SHORT[actual]} instead`,
  );
}

const algo = route({
  method: 'GET',
  path: '/consensus/algo',
  access: 'public',
  doc: 'Name of the consensus algorithm.',
  reply: Type.Object({ consensusAlgo: Type.String() }),
  handle: (_request, { consensus }) => ({ consensusAlgo: NAMES[consensus.type] }),
});

const settings = route({
  method: 'GET',
  path: '/consensus/settings',
  access: 'public',
  doc: 'Settings of the consensus.',
  reply: Type.Object({
    consensusAlgo: Type.String(),
    roundDuration: Type.Optional(Type.String()),
    syncDuration: Type.Optional(Type.String()),
    banDurationBlocks: Type.Optional(Int32),
    warningsForBan: Type.Optional(Int32),
    maxBansPercentage: Type.Optional(Int32),
  }),
  handle(_request, { consensus }) {
    const { type, roundDuration, syncDuration } = consensus;
    const consensusAlgo = NAMES[type];
    if (type === 'pos') return { consensusAlgo };
    const { banDurationBlocks, warningsForBan, maxBansPercentage } = consensus;
    return {
      consensusAlgo,
      roundDuration: roundDuration.text,
      syncDuration: syncDuration.text,
      banDurationBlocks,
      warningsForBan,
      maxBansPercentage,
    };
  },
});

const listCost = { streamed: true, rows: limits.listRows };

const addressList = (addresses: Iterable<Uint8Array | undefined>, { scheme }: Services) =>
  listOf(addresses, scheme.addressToText);

/** The row of the block at this height. Throws ApiError where there is none. */
function rowAt(at: number, { view, height }: Services): HeaderRow {
  const row = headerRowAt(view, at);
  if (row === undefined) throw apiError('HeightTooBig', at, height());
  return row;
}

const minersAtHeight = route({
  method: 'GET',
  path: '/consensus/minersAtHeight/{height}',
  access: 'public',
  doc: 'The queue of miners at the time of a block (PoA).',
  params: { height: params.height },
  reply: Type.Object({ miners: Type.Array(Type.String()), height: Int32 }),
  cost: listCost,
  handle({ params: { height } }, services) {
    requireKind('poa', services);
    const { timestamp } = rowAt(height, services).header;
    return streamed(function* (of) {
      const miners = yield* minersInSteps(of.view, timestamp);
      yield* objectOf([
        ['miners', addressList(miners, of)],
        ['height', [`${height}`]],
      ]);
    });
  },
});

const miners = route({
  method: 'GET',
  path: '/consensus/miners/{timestamp}',
  access: 'public',
  doc: 'Addresses with an active role miner at a time.',
  params: { timestamp: params.timestamp },
  reply: Type.Object({ miners: Type.Array(Type.String()), timestamp: Int64 }),
  cost: listCost,
  handle: ({ params: { timestamp } }) =>
    streamed(function* (of) {
      const miners = yield* minersInSteps(of.view, params.timeOf(timestamp));
      yield* objectOf([
        ['miners', addressList(miners, of)],
        ['timestamp', [`${timestamp}`]],
      ]);
    }),
});

const banned = route({
  method: 'GET',
  path: '/consensus/bannedMiners/{height}',
  access: 'public',
  doc: 'Miners that are banned at a height (PoA).',
  params: { height: params.height },
  reply: Type.Object({ bannedMiners: Type.Array(Type.String()), height: Int32 }),
  cost: listCost,
  handle({ params: { height } }, services) {
    requireKind('poa', services);
    rowAt(height, services);
    return streamed((of) => {
      const banned = bannedMiners(of.view, height, of.consensus.banDurationBlocks);
      return objectOf([
        ['bannedMiners', addressList(banned, of)],
        ['height', [`${height}`]],
      ]);
    });
  },
});

const BaseTarget = Type.Object({ baseTarget: Int64, score: Type.String() });
const GenerationSignature = Type.Object({ generationSignature: Type.String() });

/** The PoS data of a block. Throws where the chain runs under PoA. */
function stake(height: number, services: Services) {
  requireKind('pos', services);
  const { header, score } = rowAt(height, services);
  const { consensus } = header;
  if (consensus.kind === 'pos') return { ...consensus, score };
  throw apiError('Invalid', 'Expected PoS consensus block data, but got PoA instead');
}

function baseTargetAt(height: number, services: Services) {
  const { baseTarget, score } = stake(height, services);
  return { baseTarget, score: String(score) };
}

const generationSignatureAt = (height: number, services: Services) => ({
  generationSignature: base58.encode(stake(height, services).generationSignature),
});

const baseTarget = route({
  method: 'GET',
  path: '/consensus/basetarget',
  access: 'public',
  doc: 'Base target of the last block and the score of the chain (PoS).',
  reply: BaseTarget,
  handle: (_request, services) => baseTargetAt(services.height(), services),
});

const baseTargetOf = route({
  method: 'GET',
  path: '/consensus/basetarget/{blockId}',
  access: 'public',
  doc: 'Base target of a block and the score up to it (PoS).',
  params: { blockId: params.blockSignature },
  reply: BaseTarget,
  handle: ({ params: { blockId } }, services) =>
    baseTargetAt(heightOf(blockId, services), services),
});

const generating = route({
  method: 'GET',
  path: '/consensus/generatingbalance/{address}',
  access: 'public',
  doc: 'Generating balance of an address.',
  params: { address: params.address },
  reply: Type.Object({ address: Type.String(), balance: Int64 }),
  handle: ({ params: { address } }, { view, height }) => ({
    address: address.text,
    balance: generatingBalance(view, address.bytes, height()),
  }),
});

const generationSignature = route({
  method: 'GET',
  path: '/consensus/generationsignature',
  access: 'public',
  doc: 'Generation signature of the last block (PoS).',
  reply: GenerationSignature,
  handle: (_request, services) => generationSignatureAt(services.height(), services),
});

const generationSignatureOf = route({
  method: 'GET',
  path: '/consensus/generationsignature/{blockId}',
  access: 'public',
  doc: 'Generation signature of a block (PoS).',
  params: { blockId: params.blockSignature },
  reply: GenerationSignature,
  handle: ({ params: { blockId } }, services) =>
    generationSignatureAt(heightOf(blockId, services), services),
});

export const consensus = {
  algo,
  settings,
  minersAtHeight,
  miners,
  bannedMiners: banned,
  baseTarget,
  baseTargetOf,
  generatingBalance: generating,
  generationSignature,
  generationSignatureOf,
};
