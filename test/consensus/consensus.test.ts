// Fork choice, clock drift and the hash of the network's settings.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { compare } from '../../src/base/bytes.ts';
import { type ChainEnd, isBetter, isFromFuture } from '../../src/consensus/consensus.ts';
import {
  canonicalJson,
  type NetworkSettings,
  settingsHash,
} from '../../src/consensus/settings-hash.ts';
import { filled } from '../block/sample.ts';

const end = (score: bigint, id: number, reference = 0, timestamp = 0): ChainEnd => ({
  score,
  id: filled(64, id),
  reference: filled(64, reference),
  timestamp,
});

t.test('the higher score wins, equal scores keep the chain', async (t) => {
  for (const kind of ['poa', 'pos'] as const) {
    t.ok(isBetter(end(2n, 9, 0, 2), end(1n, 1, 0, 1), kind));
    t.notOk(isBetter(end(1n, 1, 0, 1), end(2n, 9, 0, 2), kind));
    t.notOk(isBetter(end(1n, 1, 5, 1), end(1n, 9, 6, 2), kind), 'other parents');
  }
});

t.test('scenario 28: two blocks on one parent: the lower id wins everywhere (H-9)', async (t) => {
  t.ok(isBetter(end(1n, 1), end(1n, 2), 'poa'));
  t.notOk(isBetter(end(1n, 2), end(1n, 1), 'poa'));
  t.notOk(isBetter(end(1n, 1), end(1n, 1), 'poa'));
  t.ok(isBetter(end(1n, 1, 0, 2), end(1n, 2, 0, 1), 'poa'), 'whatever their times');
  const kinds = fc.constantFrom('poa' as const, 'pos' as const);
  const one = fc.record({ score: fc.bigInt(0n, 3n), id: fc.nat(3), time: fc.nat(3) });
  fc.assert(
    fc.property(one, one, kinds, (a, b, kind) => {
      const [x, y] = [a, b].map(({ score, id, time }) => end(score, id, 0, time)) as [
        ChainEnd,
        ChainEnd,
      ];
      const [first, second] = [isBetter(x, y, kind), isBetter(y, x, kind)];
      if (first && second) t.fail('both are better');
      if (first || second) return;
      if (x.score !== y.score || compare(x.id, y.id) !== 0) t.fail('neither is better');
    }),
  );
});

t.test('under proof of stake the earlier of two children of one parent wins (H-9)', async (t) => {
  t.ok(isBetter(end(1n, 9, 0, 1), end(1n, 1, 0, 2), 'pos'));
  t.notOk(
    isBetter(end(1n, 1, 0, 2), end(1n, 9, 0, 1), 'pos'),
    'signed until its id was the lowest',
  );
  t.ok(isBetter(end(1n, 1, 0, 1), end(1n, 9, 0, 1), 'pos'), 'the lower id, at one time');
});

t.test('scenario 20: a timestamp 99 ms ahead is accepted, 100 and 101 are not', async (t) => {
  t.notOk(isFromFuture(1_099, 1_000));
  t.ok(isFromFuture(1_100, 1_000));
  t.ok(isFromFuture(1_101, 1_000));
});

const sha = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest());

const settings: NetworkSettings = {
  consensus: { type: 'poa', roundDurationMs: 17_000, syncDurationMs: 3_000 },
  functionality: {
    period: 1500,
    preActivated: new Map([
      [10, 0],
      [2, 0],
    ]),
  },
  fees: { enabled: true, base: { transfer: 1_000_000n, issue: 2n ** 60n } },
  limits: { blockBytes: 1_048_576 },
  txExpireTimeoutMs: 7_200_000,
};

t.test('settings have one text whatever their order', async (t) => {
  t.equal(
    canonicalJson({
      b: [1, { d: null, c: 2n ** 60n }],
      a: new Map<number, unknown>([
        [10, true],
        [2, 'x'],
      ]),
      u: undefined,
    }),
    '{"a":{"10":true,"2":"x"},"b":[1,{"c":1152921504606846976,"d":null}]}',
  );
  const reordered: NetworkSettings = {
    txExpireTimeoutMs: 7_200_000,
    limits: { blockBytes: 1_048_576 },
    fees: { base: { issue: 2n ** 60n, transfer: 1_000_000n }, enabled: true },
    functionality: {
      preActivated: new Map([
        [2, 0],
        [10, 0],
      ]),
      period: 1500,
    },
    consensus: { syncDurationMs: 3_000, type: 'poa', roundDurationMs: 17_000 },
  };
  t.strictSame(settingsHash(reordered, sha), settingsHash(settings, sha));
});

t.test('every setting enters the hash (H-4)', async (t) => {
  const changes: Partial<NetworkSettings>[] = [
    { consensus: { ...settings.consensus, syncDurationMs: 3_001 } },
    { functionality: { ...settings.functionality, period: 1501 } },
    { fees: { ...settings.fees, enabled: false } },
    { limits: { blockBytes: 1_048_577 } },
    { txExpireTimeoutMs: 7_200_001 },
  ];
  for (const change of changes) {
    t.notSame(settingsHash({ ...settings, ...change }, sha), settingsHash(settings, sha));
  }
});
