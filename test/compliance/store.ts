/** Requirements for every Store (src/base/ports/store.ts), run against each implementation. */
import fc from 'fast-check';
import type { Test } from 'tap';
import type { Store, StoreView, StoreWrite } from '../../src/base/ports/store.ts';
import { RowsAndColumns } from '../../src/base/row-columns.ts';

export interface StoreUnderTest {
  readonly store: Store;
  /** Closes the store and opens what it left behind; absent where nothing stays. */
  readonly reopen?: () => Promise<StoreUnderTest>;
  readonly dispose: () => Promise<void>;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const put = (table: number, key: string, value: string): StoreWrite => ({
  table,
  key: bytes(key),
  value: bytes(value),
});
const remove = (table: number, key: string): StoreWrite => ({
  table,
  key: bytes(key),
  value: undefined,
});
const list = (view: StoreView, table: number, from: string, to: string, ...rest: unknown[]) =>
  [...view.range(table, bytes(from), bytes(to), ...(rest as [number, boolean?]))].map(
    ([key, value]) => `${hex(key)}=${hex(value)}`,
  );

const get = (view: StoreView, table: number, key: string): string | undefined => {
  const value = view.get(table, bytes(key));
  return value === undefined ? undefined : hex(value);
};

const pairsOf = (all: Uint8Array): string[] => hex(all).match(/..../g) ?? [];

type Rows = Map<string, string>;

const expected = (
  rows: Rows,
  from: string,
  to: string,
  limit: number,
  reverse: boolean,
): string[] => {
  const keys = [...rows.keys()].filter((key) => key >= from && key < to).sort();
  if (reverse) keys.reverse();
  return keys.slice(0, limit).map((key) => `${key}=${rows.get(key)}`);
};

export function storeCompliance(
  tap: Test,
  name: string,
  open: () => Promise<StoreUnderTest>,
): void {
  const scenario = (what: string, run: (t: Test, store: Store) => void | Promise<void>): void => {
    tap.test(`${name}: ${what}`, async (t) => {
      const { store, dispose } = await open();
      await run(t, store);
      await dispose();
    });
  };

  scenario('rows are read back at once', async (t, store) => {
    t.equal(get(store, 1, 'aa'), undefined);
    await store.write([put(1, 'aa', '0102'), put(2, 'aa', '03'), put(1, 'ab', '')]);
    t.equal(get(store, 1, 'aa'), '0102');
    t.equal(get(store, 2, 'aa'), '03', 'tables are separate');
    t.equal(get(store, 1, 'ab'), '', 'an empty value is a value');
    t.equal(get(store, 7, 'aa'), undefined);
    await store.write([put(1, 'aa', '04'), remove(2, 'aa'), remove(2, 'ffff')]);
    t.equal(get(store, 1, 'aa'), '04');
    t.equal(get(store, 2, 'aa'), undefined);
  });

  scenario('the last write to a key counts', async (t, store) => {
    await store.write([
      put(1, 'aa', '01'),
      put(1, 'aa', '02'),
      put(1, 'bb', '01'),
      remove(1, 'bb'),
    ]);
    t.equal(get(store, 1, 'aa'), '02');
    t.equal(get(store, 1, 'bb'), undefined);
  });

  scenario('rows in columns follow single rows', async (t, store) => {
    const keys = bytes('a1b1c1');
    const columns = [
      { table: 1, keys, keyBytes: 1, values: bytes('010203') },
      { table: 2, keys, keyBytes: 1, values: ['', '0405', '06'].map(bytes) },
      { table: 7, keys: bytes(''), keyBytes: 1, values: [] },
      { table: 7, keys: bytes('a1a2b1b2'), keyBytes: 2, values: bytes('010203040506') },
    ];
    await store.write([put(1, 'b1', 'ff'), put(1, 'd1', '09')]);
    await store.write(new RowsAndColumns([remove(1, 'b1'), put(1, 'd1', '07')], columns));
    t.strictSame(list(store, 1, '00', 'ff', 9), ['a1=01', 'b1=02', 'c1=03', 'd1=07']);
    t.strictSame(list(store, 2, '00', 'ff', 9), ['a1=', 'b1=0405', 'c1=06']);
    t.strictSame(list(store, 7, '00', 'ff', 9), ['a1a2=010203', 'b1b2=040506']);
    const many = Uint8Array.from({ length: 6000 }, (_, i) => i >>> 8).map((high, i) =>
      i % 2 === 0 ? high : (i >>> 1) & 0xff,
    );
    await store.write(
      new RowsAndColumns([], [{ table: 2, keys: many, keyBytes: 2, values: many }]),
    );
    t.equal(list(store, 2, '00', 'ff', 9999).length, new Set(pairsOf(many)).size + 3);
  });

  scenario('results and arguments are nobody else’s', async (t, store) => {
    const key = bytes('aa');
    const value = bytes('0102');
    await store.write([{ table: 1, key, value }]);
    value[0] = 9;
    const first = store.get(1, key)!;
    await store.write([put(1, 'ab', '0708')]);
    store.get(1, bytes('ab'));
    t.equal(hex(first), '0102', 'reading again does not overwrite it');
    first[0] = 7;
    t.equal(get(store, 1, 'aa'), '0102');
    const copy = first.slice();
    copy[0] = 8;
    t.equal(first[0], 7, 'slice copies');
    const rows = [...store.range(1, bytes('00'), bytes('ff'), 9)];
    t.strictSame(
      rows.map(([k, v]) => hex(k) + hex(v)),
      ['aa0102', 'ab0708'],
    );
  });

  scenario('large values and the longest keys', async (t, store) => {
    const key = new Uint8Array(511).fill(0xfe);
    for (const size of [4000, 40_000, 2_000_000]) {
      const value = new Uint8Array(size).map((_, i) => i % 251);
      await store.write([{ table: 1, key, value }, put(1, '01', 'aa')]);
      t.ok(Buffer.from(value).equals(store.get(1, key)!), `${size} bytes`);
      t.equal(get(store, 1, '01'), 'aa');
      const [row] = [...store.range(1, bytes('fe'), bytes('ff'), 1)];
      t.ok(Buffer.from(value).equals(row![1]), `${size} bytes in a range`);
    }
  });

  scenario('ranges are half open, ordered and limited', async (t, store) => {
    const keys = ['00', '01', '0100', '0101', '01ff', '02', 'ff', 'ffff'];
    await store.write(keys.map((key) => put(1, key, key)));
    t.strictSame(list(store, 1, '01', '02', 9), ['01=01', '0100=0100', '0101=0101', '01ff=01ff']);
    t.strictSame(list(store, 1, '01', '02', 2), ['01=01', '0100=0100']);
    t.strictSame(list(store, 1, '01', '02', 2, true), ['01ff=01ff', '0101=0101']);
    t.strictSame(list(store, 1, '01', '0100', 9, true), ['01=01']);
    t.strictSame(list(store, 1, '00', 'ffffff', 99).length, keys.length);
    t.strictSame(list(store, 1, 'ff', 'ffffff', 99, true), ['ffff=ffff', 'ff=ff']);
    t.strictSame(list(store, 1, '03', '04', 9), []);
    t.strictSame(list(store, 1, '04', '03', 9), [], 'bounds the wrong way round');
    t.strictSame(list(store, 1, '04', '03', 9, true), []);
    t.strictSame(list(store, 1, '00', 'ff', 0), []);
    t.strictSame(list(store, 2, '00', 'ff', 9), []);
  });

  scenario('a range may be left early and written under', async (t, store) => {
    await store.write(['01', '02', '03', '04'].map((key) => put(1, key, key)));
    const seen: string[] = [];
    for (const [key] of store.range(1, bytes('01'), bytes('ff'), 9)) {
      seen.push(hex(key));
      if (seen.length === 2) break;
    }
    t.strictSame(seen, ['01', '02']);
    const all: string[] = [];
    for (const [key] of store.range(1, bytes('01'), bytes('ff'), 9)) {
      all.push(hex(key));
      await store.write([remove(1, '03'), put(1, '05', '05')]);
    }
    t.strictSame(all, ['01', '02', '03', '04'], 'it shows the rows of its beginning');
    t.strictSame(list(store, 1, '01', 'ff', 9), ['01=01', '02=02', '04=04', '05=05']);
  });

  scenario('a write that fails changes nothing', async (t, store) => {
    await store.write([put(1, 'aa', '01')]);
    const writes = function* () {
      yield put(1, 'aa', '02');
      yield put(1, 'bb', '02');
      throw new Error('stop here');
    };
    await t.rejects(store.write(writes()), /stop here/);
    t.equal(get(store, 1, 'aa'), '01');
    t.equal(get(store, 1, 'bb'), undefined);
    await t.rejects(store.write([put(1, 'aa', '03'), put(1, '', '01')]), 'an empty key');
    t.equal(get(store, 1, 'aa'), '01');
    await store.write([put(1, 'aa', '04')]);
    t.equal(get(store, 1, 'aa'), '04', 'the next write works');
  });

  scenario(
    'reads show the state before a write until it lands, and all of it then',
    async (t, store) => {
      const rows = Array.from({ length: 20_000 }, (_, i) => i.toString(16).padStart(8, '0'));
      const all = (value: string): StoreWrite[] => rows.map((key) => put(1, key, value));
      await store.write(all('01'));
      let value = '01';
      let landed = 0;
      const written = store.write(all('02'), () => {
        value = '02';
        landed++;
      });
      const done = written.then(() => true);
      const pause = () => new Promise((resolve) => setImmediate(() => resolve(false)));
      do {
        for (const key of [rows[0]!, rows[9999]!, rows[19_999]!])
          t.equal(get(store, 1, key), value);
        const [last] = list(store, 1, rows[0]!, 'ff', 1, true);
        t.equal(last, `${rows[19_999]}=${value}`);
      } while ((await Promise.race([done, pause()])) === false);
      t.equal(landed, 1);
      t.equal(get(store, 1, rows[0]!), '02');
    },
  );

  scenario('writes land in the order of asking', async (t, store) => {
    const landed: number[] = [];
    const many = Array.from({ length: 3000 }, (_, i) =>
      put(1, i.toString(16).padStart(4, '0'), '01'),
    );
    await Promise.all([
      store.write(many, () => landed.push(many.length)),
      store.write([put(1, 'aa', '02')], () => landed.push(1)),
      store.write([], () => landed.push(0)),
    ]);
    t.strictSame(landed, [3000, 1, 0]);
    t.equal(get(store, 1, 'aa'), '02');
  });

  scenario('snapshots stay as they were', async (t, store) => {
    await store.write([put(1, 'aa', '01'), put(1, 'bb', '01')]);
    const before = store.snapshot();
    await store.write([put(1, 'aa', '02'), remove(1, 'bb'), put(2, 'cc', '02')]);
    const after = store.snapshot();
    await store.write([remove(1, 'aa'), remove(2, 'cc')]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    t.equal(get(before, 1, 'aa'), '01');
    t.equal(get(before, 2, 'cc'), undefined);
    t.strictSame(list(before, 1, '00', 'ff', 9), ['aa=01', 'bb=01']);
    t.strictSame(list(after, 1, '00', 'ff', 9), ['aa=02']);
    t.equal(get(after, 2, 'cc'), '02');
    t.equal(get(store, 1, 'aa'), undefined);
    before.release();
    before.release();
    t.equal(get(after, 1, 'aa'), '02', 'each is released by itself');
    t.throws(() => before.get(1, bytes('aa')), /released/);
    after.release();
    await store.write([put(1, 'aa', '05')]);
    t.equal(get(store, 1, 'aa'), '05');
  });

  scenario('two snapshots of one moment are released one by one', async (t, store) => {
    await store.write([put(1, 'aa', '01')]);
    const [first, second] = [store.snapshot(), store.snapshot()];
    first.release();
    await store.write([put(1, 'aa', '02')]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    t.equal(get(second, 1, 'aa'), '01');
    second.release();
  });

  const writes = fc.array(
    fc.record({
      key: fc.uint8Array({ minLength: 1, maxLength: 3 }).map(hex),
      value: fc.option(fc.uint8Array({ maxLength: 40 }).map(hex), { nil: undefined }),
    }),
    { maxLength: 30 },
  );
  const key = fc.uint8Array({ minLength: 1, maxLength: 3 }).map(hex);

  scenario('it is an ordered map', async (t, store) => {
    const rows: Rows = new Map();
    await fc.assert(
      fc.asyncProperty(
        writes,
        key,
        key,
        fc.nat(8),
        fc.boolean(),
        async (all, a, b, limit, back) => {
          await store.write(
            all.map((w) => (w.value === undefined ? remove(1, w.key) : put(1, w.key, w.value))),
          );
          for (const w of all) {
            if (w.value === undefined) rows.delete(w.key);
            else rows.set(w.key, w.value);
          }
          const seen = list(store, 1, a, b, limit, back);
          if (seen.join() !== expected(rows, a, b, limit, back).join()) throw new Error('range');
          if (get(store, 1, a) !== rows.get(a)) throw new Error('get');
        },
      ),
      { numRuns: 150 },
    );
    t.strictSame(list(store, 1, '00', 'ffffffff', 1e6), expected(rows, '00', 'g', 1e6, false));
  });

  tap.test(`${name}: it survives closing`, async (t) => {
    const first = await open();
    await first.store.write([put(1, 'aa', '01'), put(7, 'bb', '02')]);
    if (first.reopen === undefined) {
      await first.dispose();
      t.throws(() => first.store.get(1, bytes('aa')), 'a closed store answers nothing');
      return;
    }
    const second = await first.reopen();
    t.equal(get(second.store, 1, 'aa'), '01');
    t.equal(get(second.store, 7, 'bb'), '02');
    t.ok(second.store.size() > 0);
    await second.dispose();
  });
}
