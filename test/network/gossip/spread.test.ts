import t from 'tap';
import { Spread } from '../../../src/network/gossip/spread.ts';

const ENOUGH = 2;

function make() {
  const waiting = new Set<string>();
  const spread = new Spread({ enough: ENOUGH, isWaiting: (hash) => waiting.has(hash) });
  const undelivered = (): string[] => spread.undelivered().map(({ hash }) => hash);
  function begin(hash: string, now = 0): void {
    waiting.add(hash);
    spread.begin(hash, now);
  }
  return { spread, waiting, undelivered, begin };
}

t.test('a transaction is undelivered until enough peers have it', async (t) => {
  const { spread, undelivered, begin } = make();
  spread.delivered(1, 'early');
  for (const hash of ['early', 'late']) begin(hash);
  begin('late');
  t.strictSame(undelivered(), ['early', 'late'], 'once each');
  for (const hash of ['early', 'late']) spread.delivered(2, hash);
  spread.delivered(2, 'late');
  t.strictSame(undelivered(), ['late'], 'the same peer counts once');
  t.equal(spread.has(1, 'early'), true);
  t.equal(spread.has(1, 'late'), false);
  spread.forgetHolders('early');
  begin('early');
  t.strictSame(undelivered(), ['late', 'early'], 'again, where the holders are forgotten');
});

t.test('what has left the pool is not undelivered', async (t) => {
  const { waiting, undelivered, begin } = make();
  begin('one');
  waiting.delete('one');
  t.strictSame(undelivered(), []);
  begin('one');
  t.strictSame(undelivered(), ['one']);
});

t.test('the list of undelivered transactions has an end', async (t) => {
  const { spread, undelivered, begin } = make();
  for (let i = 0; i < 25_000; i++) begin(`delivered ${i}`);
  t.equal(undelivered().length, 20_000);
  for (let i = 0; i < 25_000; i++) {
    spread.delivered(1, `delivered ${i}`);
    spread.delivered(2, `delivered ${i}`);
  }
  t.equal(undelivered().length, 0);
  begin('later');
  t.strictSame(undelivered(), ['later']);
});

t.test('a record remembers a limited number of peers', async (t) => {
  const { spread } = make();
  for (let peer = 1; peer <= 65; peer++) spread.delivered(peer, 'one');
  t.equal(spread.has(1, 'one'), false, 'the first is forgotten');
  t.equal(spread.has(65, 'one'), true);
});

t.test('when it came is remembered, and not when peers had it', async (t) => {
  const { spread, begin } = make();
  spread.delivered(1, 'one');
  t.equal(spread.since('one'), 0);
  begin('one', 5_000.5);
  t.equal(spread.since('one'), 5_000);
  spread.delivered(2, 'one');
  t.equal(spread.since('one'), 5_000);
  begin('one', 9_000);
  t.equal(spread.since('one'), 9_000, 'again, where a block was taken back');
  t.equal(spread.since('another'), 0);
});
