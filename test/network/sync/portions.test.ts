import t from 'tap';
import {
  PORTION_BLOCKS,
  PORTION_TRANSACTIONS,
  portionsOf,
  withLead,
} from '../../../src/network/sync/portions.ts';

interface Item {
  readonly name: number;
  readonly block: { readonly bytes: Uint8Array; readonly transactions: Uint8Array[] };
}

const item = (name: number, transactions = 1, bytes = 100): Item => ({
  name,
  block: { bytes: new Uint8Array(bytes), transactions: new Array(transactions) },
});

async function* stream(items: readonly Item[], failure?: Error): AsyncGenerator<Item> {
  yield* items;
  if (failure !== undefined) throw failure;
}

/** What comes out, and after it the message of the failure. */
async function outcome<T, R>(source: AsyncIterable<T>, seen: (one: T) => R): Promise<unknown[]> {
  const got: unknown[] = [];
  try {
    for await (const one of source) got.push(seen(one));
  } catch (cause) {
    got.push((cause as Error).message);
  }
  return got;
}

const sizes = (items: readonly Item[], failure?: Error): Promise<unknown[]> =>
  outcome(portionsOf(stream(items, failure)), ({ length }) => length);

t.test('a portion is full of blocks, transactions or bytes', async (t) => {
  const small = Array.from({ length: 2 * PORTION_BLOCKS + 1 }, (_, i) => item(i));
  t.strictSame(await sizes(small), [PORTION_BLOCKS, PORTION_BLOCKS, 1]);
  const busy = Array.from({ length: 5 }, (_, i) => item(i, PORTION_TRANSACTIONS / 2));
  t.strictSame(await sizes(busy), [2, 2, 1]);
  const large = Array.from({ length: 3 }, (_, i) => item(i, 1, 3 * 1024 * 1024));
  t.strictSame(await sizes(large), [1, 1, 1]);
  t.strictSame(await sizes([]), []);
});

t.test('what came before a failure is handed out before it', async (t) => {
  const failure = new Error('lost');
  t.strictSame(await sizes([item(1), item(2)], failure), [2, 'lost']);
  t.strictSame(await sizes([], failure), ['lost']);
  const lead = withLead(stream([item(1), item(2)], failure), 5);
  t.strictSame(await outcome(lead, ({ name }) => name), [1, 2, 'lost']);
});

t.test('a lead: so many more have come before one is handed out', async (t) => {
  let come = 0;
  async function* counted(): AsyncGenerator<Item> {
    for (let i = 1; i <= 5; i++) {
      come = i;
      yield item(i);
    }
  }
  const seen = await outcome(withLead(counted(), 2), ({ name }) => [name, come]);
  t.strictSame(seen, [
    [1, 3],
    [2, 4],
    [3, 5],
    [4, 5],
    [5, 5],
  ]);
});
