// Ids that no node has given: their numbers end nothing, hold nothing up, and keep no place.
import t from 'tap';
import { encodeHeaderRow } from '../../src/block/header-row.ts';
import { headerRowAt } from '../../src/chain/store/stored-blocks.ts';
import { ChainFeed } from '../../src/events/chain-feed.ts';
import { EventStreams } from '../../src/events/event-streams.ts';
import {
  BLOCK_STEP,
  beforeAll,
  endOf,
  placeIn,
  placeText,
  readPlace,
} from '../../src/events/place.ts';
import { createOverlay } from '../../src/ledger/overlay.ts';
import { headers } from '../../src/ledger/tables.ts';
import { mine, newChain } from '../chain/chain-harness.ts';

t.test('a height that no block can have', (t) => {
  t.match(readPlace('4294967295.b.0.AAAAAAAAAAAAAAAA'), { height: 0xffff_ffff });
  t.equal(readPlace('4294967296.b.0.AAAAAAAAAAAAAAAA'), undefined);
  t.equal(readPlace('9999999999.b.0.AAAAAAAAAAAAAAAA'), undefined);
  t.match(readPlace(placeText(beforeAll(999_999_999_999_999))), { arrival: 999_999_999_999_999 });
  t.equal(
    readPlace('1.b.1000000000000000.AAAAAAAAAAAAAAAA'),
    undefined,
    'nor such a number of data',
  );
  t.end();
});

t.test('a step behind the end of every block', (t) => {
  t.match(readPlace(`1.${BLOCK_STEP}.0.AAAAAAAAAAAAAAAA`), { step: BLOCK_STEP });
  t.equal(readPlace(`1.${BLOCK_STEP + 1}.0.AAAAAAAAAAAAAAAA`), undefined);
  t.equal(readPlace('1.9999999999.0.AAAAAAAAAAAAAAAA'), undefined);
  t.end();
});

t.test('a reorganisation of all blocks but the first', async (t) => {
  const chain = await newChain();
  const { blockchain, clock } = chain;
  const feed = new ChainFeed({ chain: blockchain, clock });
  for (let i = 0; i < 5; i++) await mine(chain, []);
  const named = readPlace(placeText(feed.end()))!;
  t.equal(named.height, 6);
  await blockchain.rollback(1);
  // Another node, or this one after a restart, has never seen those blocks.
  t.match(placeIn(blockchain.view, named), { height: 1, step: BLOCK_STEP });
  t.equal(placeIn(blockchain.view, { ...named, marks: named.marks.slice(0, 16) }), undefined);
});

t.test('two blocks whose ids begin with the same bytes, as their miner may choose', async (t) => {
  const chain = await newChain();
  const { view } = chain.blockchain;
  await mine(chain, []);
  const told = endOf(view, 2, 0)!;
  const row = headerRowAt(view, 2)!;
  const signature = Uint8Array.from(row.header.signature);
  signature.fill(7, signature.length / 2);
  const other = createOverlay(view);
  const header = { ...row.header, signature };
  other.set(headers, 2, encodeHeaderRow({ ...row, header }, view.scheme));
  t.match(placeIn(view, readPlace(placeText(told))!), { height: 2 });
  t.match(placeIn(other, readPlace(placeText(told))!), { height: 1 }, 'the block is gone there');
});

t.test('a request that fails keeps no place', async (t) => {
  const { blockchain, clock } = await newChain();
  const streams = new EventStreams(
    { readersMax: 1, readersOfClientMax: 1 },
    { feed: new ChainFeed({ chain: blockchain, clock }), clock, headerText: () => '{}' },
  );
  const request = { filter: { kinds: new Set([]) }, filterText: '', client: '', follows: false };
  const from = { height: 2 ** 32, step: 0, arrival: 0, marks: 'AAAAAAAAAAAAAAAA' };
  t.throws(() => streams.open({ ...request, from }));
  t.equal(streams.count(), 0);
  await streams.stop();
});
