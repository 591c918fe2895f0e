// Whom a node asks for a block that votes speak for, and how often (finality.md#fork-choice).
import t from 'tap';
import {
  JustifiedSearch,
  PAUSE_MS_MAX,
  PAUSE_MS_MIN,
  type Sought,
} from '../../../src/node/finality/justified-search.ts';

const peer = (name: number) => ({ owner: Uint8Array.of(name) });
const [one, two] = [peer(1), peer(2)] as const;

function fresh() {
  const at = {
    now: 0,
    head: {},
    sought: undefined as Sought | undefined,
    told: [] as object[],
    looks: 0,
  };
  const search = new JustifiedSearch<typeof one>({
    clock: { monotonic: () => at.now },
    head: () => at.head,
    sought() {
      at.looks += 1;
      return at.sought;
    },
    hasTold: (one) => at.told.includes(one),
    peers: () => [one, two],
  });
  const seek = (sought: Sought | undefined): void => {
    at.sought = sought;
    search.changed();
  };
  return { at, search, seek };
}

t.test('the pause grows up to a bound, and ends with votes for a higher block', async (t) => {
  const { at, search, seek } = fresh();
  search.asked(one);
  t.notOk(search.asks(one), 'nothing is sought');
  seek({ height: 5, keys: ['a'] });
  t.ok(search.asks(one), 'what was asked before does not count');
  const pauses: number[] = [];
  for (let i = 0; i < 8; i++) {
    search.asked(one);
    const from = at.now;
    t.ok(search.asks(two), 'another peer may be asked meanwhile');
    for (; !search.asks(one); at.now += 1_000);
    pauses.push(at.now - from);
  }
  t.strictSame(
    pauses,
    [2, 4, 8, 16, 32, 64, 64, 64].map((s) => s * 1_000),
  );
  t.strictSame([pauses[0], pauses.at(-1)], [PAUSE_MS_MIN, PAUSE_MS_MAX]);
  search.asked(one);
  seek(undefined);
  t.notOk(search.asks(one));
  seek({ height: 5, keys: ['b'] });
  t.notOk(search.asks(one), 'another block of that height ends no pause');
  seek({ height: 6, keys: ['c'] });
  t.ok(search.asks(one));
});

t.test('those who have told of the votes are asked, and all where nobody has', async (t) => {
  const { at, search, seek } = fresh();
  seek({ height: 5, keys: ['a'] });
  t.ok(search.asks(one) && search.asks(two));
  at.told = [two];
  t.notOk(search.asks(one));
  t.ok(search.asks(two));
  search.asked(two);
  t.notOk(search.asks(one) || search.asks(two), 'also while those rest');
});

t.test('what is sought is looked for once, until the votes or the head are others', async (t) => {
  const { at, search } = fresh();
  const ask = (): void => {
    for (const peer of [one, two]) search.asks(peer);
    search.isSeeking();
  };
  ask();
  search.asked(one);
  t.equal(at.looks, 1, 'also where nothing is sought');
  at.sought = { height: 5, keys: ['a'] };
  search.changed();
  ask();
  search.asked(one);
  ask();
  t.equal(at.looks, 2, 'however many peers there are');
  at.sought = undefined;
  at.head = {};
  t.notOk(search.isSeeking());
  t.equal(at.looks, 3);
});
