// What stands on the screen: cut to its width, and without anything that a terminal obeys.
import t from 'tap';
import { linesOf } from '../../../../src/cli/commands/top/lines-of.ts';
import type { Facts } from '../../../../src/cli/commands/top/node-watch.ts';

const peer = { name: 'n', address: '10.0.0.1:6864', owner: '3Nowner', version: '1.1.0' };
const facts: Facts = {
  time: '2027-01-01T00:00:00.000Z',
  url: 'http://127.0.0.1:6862',
  version: 'platform-node v1.1.0',
  consensus: 'poa',
  round: '0.9 s + 0.1 s',
  height: 120,
  finalHeight: 117,
  tipAgeSeconds: 0.42,
  health: { status: 'not ready', reasons: [{ code: 'disk', message: 'little is free' }] },
  pool: 5,
  peers: [peer],
  recent: {
    count: 100,
    perMinute: 60,
    transactionsPerSecond: 2.5,
    miners: [{ address: '3Nminer', blocks: 100 }],
  },
};

t.test('the facts', async (t) => {
  const text = linesOf(facts, 120).join('\n');
  for (const part of [
    '120, 0.4 s old',
    '117, 3 below',
    'not ready disk: little is free',
    '60.0 in a minute, over the last 100',
    '2.5 transactions in a second',
    '5 transactions',
    '3Nminer  100',
    '10.0.0.1:6864',
    'none: metrics.enable = yes',
  ]) {
    t.match(text, part);
  }
  const { finalHeight: _, ...open } = facts;
  t.match(linesOf(open, 120).join('\n'), 'nobody votes');
  const metrics = {
    miner: 'mining',
    synchronisation: 'following',
    accepted: 3,
    refused: 1,
    requests: 7,
    processors: 0.5,
    residentBytes: 2 ** 28,
    storeBytes: 2 ** 20,
    diskFreeBytes: undefined,
  };
  const measured = linesOf({ ...facts, metrics }, 120).join('\n');
  t.match(measured, '3.0 transactions in a second, 1.0 refused');
  t.match(measured, '0.50 processors, 256 MiB');
  t.match(measured, 'chain 1 MiB, free ?');
});

t.test('texts of others', async (t) => {
  const name = `\x1b[2J\x1b]0;owned\x07\u202e${'x'.repeat(500)}`;
  const many = Array.from({ length: 300 }, () => ({ ...peer, name, version: name }));
  const lines = linesOf({ ...facts, peers: many, version: name }, 60);
  t.notMatch(lines.join(''), /[\p{C}]/u);
  t.ok(lines.every((line) => line.length <= 60));
  t.ok(lines.length < 50, String(lines.length));
  t.match(lines.join('\n'), 'and 288 more');
  const error = linesOf({ time: facts.time, url: facts.url, error: name }, 60);
  t.notMatch(error.join(''), /[\p{C}]/u);
});
