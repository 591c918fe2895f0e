// Pages that readers share: what is kept is limited, and what may grow is read anew.
import t from 'tap';
import { SharedPages } from '../../src/events/shared-pages.ts';
import { callsOf } from '../script/counted-calls.ts';

const MIB = 1024 * 1024;
const settled = () => new Promise(setImmediate);

function shared() {
  const gone = new Set<string>();
  const pages = new SharedPages<string>(({ place }) => !gone.has(place));
  const read: string[] = [];
  const get = async (key: string, isWhole = true): Promise<void> => {
    const page = async () => {
      read.push(key);
      return { bytes: new Uint8Array(1), place: key };
    };
    await pages.get(key, page, () => isWhole);
    await settled();
  };
  return { get, read, gone };
}

t.test('long names', async (t) => {
  const { get, read } = shared();
  const keys = Array.from({ length: 40 }, (_, i) => `${i} ${'y'.repeat(MIB)}`);
  for (const key of keys) await get(key);
  read.length = 0;
  await get(keys.at(-1)!);
  t.strictSame(read, [], 'the newest are there');
  await get(keys[0]!);
  t.strictSame(read, [keys[0]], 'and the oldest are gone');
});

t.test('one whose bytes are gone is read anew', async (t) => {
  const { get, read, gone } = shared();
  await get('a');
  await get('b');
  gone.add('a');
  await get('a');
  await get('b');
  t.strictSame(read, ['a', 'b', 'a']);
});

t.test('short ones of many filters', async (t) => {
  const { get, read } = shared();
  const keys = Array.from({ length: 1000 }, (_, i) => `filter ${i}`);
  for (const key of [...keys, ...keys]) await get(key);
  t.equal(read.length, keys.length);
});

t.test('none is searched for among those that have gone', (t) => {
  const pages = new SharedPages<string>(() => true);
  const page = Promise.resolve({ bytes: new Uint8Array(1), place: '' });
  const ask = (name: string) =>
    pages.get(
      name,
      () => page,
      () => true,
    );
  const searches = callsOf([[Map.prototype, ['keys', 'entries']]], () => {
    for (let i = 0; i < 10_000; i++) ask(`page ${i}`);
  });
  t.equal(searches, 0);
  t.end();
});

t.test('one that has no end yet', async (t) => {
  const { get, read } = shared();
  await get('place', false);
  await get('place');
  await get('place');
  t.strictSame(read, ['place', 'place']);
});
