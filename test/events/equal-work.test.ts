// What readers with different filters share: a block is looked up, and a transaction printed, once for
// all of them.
import t from 'tap';
import { latin1 } from '../../src/base/bytes.ts';
import { ChainFeed } from '../../src/events/chain-feed.ts';
import { EventStreams } from '../../src/events/event-streams.ts';
import { headers, transactions } from '../../src/ledger/tables.ts';
import { data } from '../../src/tx/types/012-data.ts';
import { mine, newChain, payment, signed, users } from '../chain/chain-harness.ts';

const settled = async (): Promise<void> => {
  for (let i = 0; i < 200; i++) await new Promise(setImmediate);
};

const [alice, bob] = users;

/**
 * The work for a block with two transactions and one with another, by so many readers of them, in
 * turns with each filter.
 */
async function workFor(
  readers: number,
  filters = readers,
  another = (timestamp: number) => payment(alice, bob, 3n, timestamp),
) {
  const chain = await newChain();
  for (let i = 0; i < 5; i++) await mine(chain, []);
  const { blockchain, clock } = chain;
  const work = { headers: 0, printed: 0, pages: 0, events: 0, bodies: 0, idle: 0, chars: 0 };
  const scheme = Object.create(blockchain.view.scheme, {
    addressToText: {
      value(address: Uint8Array) {
        work.printed++;
        return blockchain.view.scheme.addressToText(address);
      },
    },
  });
  const view: typeof blockchain.view = Object.create(blockchain.view, {
    scheme: { value: scheme },
    get: {
      value(...[table, key]: Parameters<typeof blockchain.view.get>) {
        if (table.id === headers.id) work.headers++;
        return blockchain.view.get(table, key);
      },
    },
    range: {
      value(...of: Parameters<typeof blockchain.view.range>) {
        if (of[0].id === transactions.id) work.bodies++;
        return blockchain.view.range(...of);
      },
    },
  });
  const feed = new ChainFeed({
    chain: { view, tip: () => blockchain.tip(), listen: (one) => blockchain.listen(one) },
    clock,
  });
  const counting: ChainFeed = Object.create(feed, {
    next: {
      value(...of: Parameters<ChainFeed['next']>) {
        work.pages++;
        return feed.next(...of);
      },
    },
  });
  const streams = new EventStreams(
    { readersMax: readers + 1, readersOfClientMax: readers + 1 },
    { feed: counting, clock, headerText: String },
  );
  for (let i = 0; i < readers; i++) {
    const filter = { kinds: new Set(['transaction'] as const), addresses: [latin1(bob.address)] };
    const text = `another way to write it ${i % filters}`;
    const request = { filter, filterText: text, client: '', from: undefined, follows: true };
    streams.open(request).stream.begin({
      write: (text) => {
        const all = Buffer.from(text).toString();
        work.events += all.split('event: transaction').length - 1;
        work.chars = Math.max(work.chars, all.length);
        return true;
      },
      end: () => {},
    });
  }
  await settled();
  Object.assign(work, { headers: 0, printed: 0, pages: 0 });
  const { timestamp } = blockchain.tip().header;
  await mine(chain, [payment(alice, bob, 1n, timestamp), payment(alice, bob, 2n, timestamp + 1)]);
  await settled();
  const { pages } = work;
  const last = { filter: { kinds: new Set(['block'] as const) }, filterText: '', client: '' };
  const { stream } = streams.open({ ...last, from: undefined, follows: true });
  stream.begin({ write: () => true, end: () => {} });
  await settled();
  work.idle = work.pages - pages;
  work.bodies = 0;
  await mine(chain, [another(timestamp + 2)]);
  await settled();
  await streams.stop();
  return work;
}

t.test('work for one block', async (t) => {
  const one = await workFor(1);
  const many = await workFor(50);
  t.equal(one.events, 3);
  t.equal(many.events, 3 * 50);
  t.ok(one.headers > 0 && one.printed > 0);
  t.strictSame([many.headers, many.printed], [one.headers, one.printed]);
});

t.test('a filter is evaluated once, however many others there are', async (t) => {
  const filters = 200;
  const { pages, events } = await workFor(2 * filters, filters);
  t.equal(events, 3 * 2 * filters);
  // Of two blocks, the last one with a reader of its own filter.
  t.equal(pages, 2 * filters + 1);
});

t.test('what nothing has happened for, and what is in memory, costs nothing', async (t) => {
  const { idle, bodies } = await workFor(50);
  t.equal(idle, 0, 'readers that have everything ask for no page');
  t.equal(bodies, 0, 'a block behind one that was wanted is not read from the store');
});

t.test('so is a transaction whose text is as long as can be', async (t) => {
  const long = (timestamp: number) => {
    // Six characters of JSON each.
    const value = '\u0001'.repeat(28_000);
    const entries = Array.from({ length: 5 }, (_, i) => ({
      key: `key ${i}`,
      type: 'string' as const,
      value,
    }));
    const { publicKey: authorPublicKey } = bob;
    return signed(data, bob, { authorPublicKey, data: entries, timestamp, fee: 200_000_000n }, 1);
  };
  const one = await workFor(1, 1, long);
  const many = await workFor(16, 8, long);
  t.ok(many.chars > 800_000);
  t.equal(many.events, 3 * 16);
  t.equal(many.printed, one.printed);
  // What follows it has a page, too.
  t.equal(many.pages, 3 * 8 + 1, 'and each page is made once');
});
