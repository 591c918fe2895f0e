// Messages about blocks and transactions: every message survives a round trip, and no bytes make a
// decoder throw anything except CodecError.
import t from 'tap';
import { CodecError } from '../../../src/codec/codec.ts';
import * as blocks from '../../../src/network/messages/block-messages.ts';
import * as txs from '../../../src/network/messages/transaction-messages.ts';
import { genesis, scheme } from '../../chain/chain-harness.ts';
import { Rng } from '../../generators/random.ts';

const rng = new Rng(4);
const ids = (count: number): Uint8Array[] => Array.from({ length: count }, () => rng.bytes(64));
const hashes = (count: number): Uint8Array[] => Array.from({ length: count }, () => rng.bytes(32));

const compact: blocks.CompactBlock = {
  header: genesis.header,
  txs: [...hashes(3).map((hash) => ({ hash })), { bytes: rng.bytes(200) }],
};
const request = { id: rng.bytes(64), indexes: [0, 3, 65_534] };
const head = { height: 7, id: rng.bytes(64), score: (1n << 100n) + 5n };
const answer = { common: rng.bytes(64), next: ids(101) };
const bodies = [rng.bytes(120), undefined, rng.bytes(40)];

type Decode = (bytes: Uint8Array) => unknown;
const messages: readonly (readonly [name: string, Uint8Array, Decode, value: unknown])[] = [
  ['Head', blocks.encodeTip(head, scheme), (b) => blocks.decodeTip(b, scheme), head],
  ['Ids', blocks.encodeIds(answer, scheme), (b) => blocks.decodeIds(b, scheme), answer],
  ['NoCommon', blocks.encodeIds(undefined, scheme), (b) => blocks.decodeIds(b, scheme), undefined],
  [
    'Blocks',
    blocks.encodeBlocks(bodies, scheme),
    (b) => blocks.decodeBlocks(b, scheme, 1000),
    bodies,
  ],
  [
    'NewBlock',
    blocks.encodeCompact(compact, scheme),
    (b) => blocks.decodeCompact(b, scheme),
    compact,
  ],
  [
    'GetBlockTxs',
    blocks.encodeBlockTxsRequest(request, scheme),
    (b) => blocks.decodeBlockTxsRequest(b, scheme),
    request,
  ],
  ...[1, 100].map((count) => {
    const list = ids(count);
    const bytes = blocks.encodeIdList(list, scheme);
    return ['GetIds', bytes, (b: Uint8Array) => blocks.decodeIdList(b, scheme), list] as const;
  }),
  ...[1, 500].map((count) => {
    const list = hashes(count);
    const bytes = txs.encodeTxHashes(list, scheme);
    return ['TxHashes', bytes, (b: Uint8Array) => txs.decodeTxHashes(b, scheme), list] as const;
  }),
  ...[[], [rng.bytes(1), rng.bytes(300)]].map((list) => {
    const bytes = txs.encodeTxs(list, scheme);
    return ['Txs', bytes, (b: Uint8Array) => txs.decodeTxs(b, scheme), list] as const;
  }),
];

t.test('every message comes back as it was', async (t) => {
  for (const [name, bytes, decode, value] of messages) t.same(decode(bytes), value, name);
});

t.test('limits hold', async (t) => {
  const refused = (name: string, decode: () => unknown) => t.throws(decode, CodecError, name);
  refused('no ids', () => blocks.decodeIdList(blocks.encodeIdList([], scheme), scheme));
  refused('101 ids', () => blocks.decodeIdList(blocks.encodeIdList(ids(101), scheme), scheme));
  refused('501 hashes', () => txs.decodeTxHashes(txs.encodeTxHashes(hashes(501), scheme), scheme));
  refused('a long block', () =>
    blocks.decodeBlocks(blocks.encodeBlocks([rng.bytes(11)], scheme), scheme, 10),
  );
  const twice = blocks.encodeBlockTxsRequest({ ...request, indexes: [4, 4] }, scheme);
  refused('indexes twice', () => blocks.decodeBlockTxsRequest(twice, scheme));
});

t.test('damaged bytes end in CodecError or in a message', async (t) => {
  let refused = 0;
  for (let i = 0; i < 40_000; i++) {
    const [name, bytes, decode] = messages[i % messages.length]!;
    const damaged = damage(bytes);
    try {
      decode(damaged);
    } catch (error) {
      refused++;
      if (!(error instanceof CodecError)) t.fail(`${name}: ${String(error)}`);
    }
  }
  t.ok(refused > 10_000, `${refused} refused`);
});

function damage(bytes: Uint8Array): Uint8Array {
  if (rng.chance(5)) return rng.bytes(rng.below(300));
  const out = bytes.slice(0, rng.chance(2) ? rng.below(bytes.length + 1) : bytes.length);
  for (let i = rng.below(4); i >= 0 && out.length > 0; i--) out[rng.below(out.length)] = rng.u32();
  if (!rng.chance(5)) return out;
  const longer = new Uint8Array(out.length + 1 + rng.below(10));
  longer.set(out);
  return longer;
}
