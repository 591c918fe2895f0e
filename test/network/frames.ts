/** Valid messages of every protocol between nodes, and their mutations. */
import { decodeBlock } from '../../src/block/block.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import * as blocks from '../../src/network/messages/block-messages.ts';
import * as handshake from '../../src/network/messages/handshake-messages.ts';
import * as identity from '../../src/network/messages/identity-messages.ts';
import { ASK_PEERS, decodePeers, encodePeers } from '../../src/network/messages/peer-messages.ts';
import * as txs from '../../src/network/messages/transaction-messages.ts';
import { decodeTx } from '../../src/tx/tx-bytes.ts';
import { genesis, payment, scheme, users } from '../chain/chain-harness.ts';
import { Rng } from '../generators/random.ts';

export interface Format {
  readonly name: string;
  readonly decode: (bytes: Uint8Array, scheme: ChainScheme) => unknown;
  readonly samples: readonly Uint8Array[];
}

export const hello = handshake.encodeHello(
  {
    version: { major: 1, minor: 1, patch: 0 },
    agent: 'platform-node',
    chainId: scheme.chainId,
    genesisId: new Uint8Array(64).fill(1),
    consensusType: 'poa',
    settingsHash: new Uint8Array(32).fill(2),
    nodeName: 'a node',
    nonce: -5n,
    declaredAddress: { host: '10.0.0.1', port: 6864 },
    ownerPublicKey: new Uint8Array(32).fill(3),
    ephemeralKey: new Uint8Array(32).fill(4),
    challenge: new Uint8Array(32).fill(5),
    mode: 'watcher',
    features: ['one', 'two'],
    miner: { publicKey: new Uint8Array(32).fill(6), signature: new Uint8Array(64).fill(7) },
  },
  scheme,
);
export const question = {
  address: new Uint8Array(26),
  timestamp: 1,
  signature: new Uint8Array(64),
};
export const places = Array.from({ length: 20 }, (_, i) => ({ host: `10.0.0.${i}`, port: 1 + i }));

const rng = new Rng(4);
const many = (count: number, size: number): Uint8Array[] =>
  Array.from({ length: count }, () => rng.bytes(size));
const [alice, bob] = users;
const payments = [1n, 2n, 3n].map((amount) => payment(alice, bob, amount, 1_600_000_000_000).bytes);
const { header } = genesis;

export const formats = {
  handshake: {
    name: 'handshake',
    decode: handshake.decodeHandshake,
    samples: [
      hello,
      handshake.encodeAuth(new Uint8Array(64)),
      handshake.encodeRefusal('no', scheme),
    ],
  },
  question: {
    name: 'question of identity',
    decode: identity.decodeQuestion,
    samples: [identity.encodeQuestion(question, scheme)],
  },
  identity: {
    name: 'answer about identity',
    decode: identity.decodeAnswer,
    samples: [
      identity.encodeAnswer({ key: new Uint8Array(32) }, scheme),
      identity.encodeAnswer({ refusal: 'no-state', why: 'Invalid server state' }, scheme),
    ],
  },
  peers: {
    name: 'peers',
    decode: decodePeers,
    samples: [ASK_PEERS, encodePeers(places, scheme)],
  },
  head: {
    name: 'head',
    decode: blocks.decodeTip,
    samples: [blocks.encodeTip({ height: 7, id: rng.bytes(64), score: 5n }, scheme)],
  },
  idList: {
    name: 'list of ids',
    decode: blocks.decodeIdList,
    samples: [blocks.encodeIdList(many(3, 64), scheme)],
  },
  ids: {
    name: 'ids',
    decode: blocks.decodeIds,
    samples: [
      blocks.encodeIds(undefined, scheme),
      blocks.encodeIds({ common: rng.bytes(64), next: many(5, 64) }, scheme),
    ],
  },
  blocks: {
    name: 'blocks',
    decode: (bytes, scheme) => blocks.decodeBlocks(bytes, scheme, 100_000),
    samples: [blocks.encodeBlocks([genesis.bytes, undefined], scheme)],
  },
  compact: {
    name: 'compact block',
    decode: blocks.decodeCompact,
    samples: [
      blocks.encodeCompact(
        { header, txs: [{ hash: rng.bytes(32) }, { bytes: payments[0]! }] },
        scheme,
      ),
    ],
  },
  partsOf: {
    name: 'request for parts of a block',
    decode: blocks.decodeBlockTxsRequest,
    samples: [blocks.encodeBlockTxsRequest({ id: rng.bytes(64), indexes: [0, 3, 9] }, scheme)],
  },
  hashes: {
    name: 'hashes of transactions',
    decode: txs.decodeTxHashes,
    samples: [txs.encodeTxHashes(many(4, 32), scheme)],
  },
  txs: { name: 'transactions', decode: txs.decodeTxs, samples: [txs.encodeTxs(payments, scheme)] },
  block: { name: 'block', decode: decodeBlock, samples: [genesis.bytes] },
  tx: { name: 'transaction', decode: decodeTx, samples: payments },
} satisfies Record<string, Format>;

/** Half of them noise, half of them valid ones with a few changes, every third of those cut short. */
export function frame(rng: Rng, samples: readonly Uint8Array[]): Uint8Array {
  if (rng.chance(2)) return rng.bytes(rng.below(400));
  const bytes = rng.pick(samples).slice();
  for (let i = rng.below(4); i >= 0; i--) bytes[rng.below(bytes.length)] = rng.u32();
  return rng.chance(3) ? bytes.subarray(0, rng.below(bytes.length + 1)) : bytes;
}
