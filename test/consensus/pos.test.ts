// Proof of stake: logarithm, delays, base targets, hit sources, refusals.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import type { PosData } from '../../src/block/header.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import type { BlockFacts, ConsensusView } from '../../src/consensus/consensus.ts';
import { ln } from '../../src/consensus/ln.ts';
import { createPos, scorePos } from '../../src/consensus/pos.ts';
import {
  delayOf,
  hitOf,
  MIN_GENERATING_BALANCE,
  nextBaseTarget,
  normalisation,
} from '../../src/consensus/pos-formulas.ts';
import { filled, scheme as plainChain } from '../block/sample.ts';
import { G, minerIdentity, publicKey } from './network.ts';

// Any hash shows which inputs enter the generation signature.
const sha = (...parts: readonly Uint8Array[]): Uint8Array => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};
const scheme: ChainScheme = { ...plainChain, fastHash: (bytes) => sha(bytes) };

t.test('the logarithm agrees with that of the engine on every double', async () => {
  const positive = fc.double({ min: 0, noNaN: true });
  const nearOne = fc.double({ min: -1e-5, max: 1e-5, noNaN: true }).map((x) => 1 + x);
  const unit = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.oneof(positive, nearOne, unit), (x) => {
      const [own, theirs] = [ln(x), Math.log(x)];
      // Engines may differ in the last bit; ours may not differ from itself.
      const close = Math.abs(own - theirs) <= Math.abs(theirs) * 2 ** -51;
      if (!Object.is(own, theirs) && !close) throw new Error(`ln ${x} is ${own}, not ${theirs}`);
    }),
    { numRuns: 5000 },
  );
});

t.test('edges of the logarithm', async (t) => {
  t.equal(ln(0), -Infinity);
  t.equal(ln(-0), -Infinity);
  t.equal(ln(Infinity), Infinity);
  t.ok(Number.isNaN(ln(-1)));
  t.ok(Number.isNaN(ln(NaN)));
  t.equal(ln(1), 0);
  t.equal(ln(2), Math.LN2);
  t.equal(ln(10), Math.LN10);
  t.equal(ln(5e-324), -744.4400719213812);
  t.equal(ln(Number.MAX_VALUE), 709.782712893384);
});

t.test('scenario 33: delay vectors of consensus.md#proof-of-stake', async (t) => {
  t.equal(delayOf(1n, 100n, 10n ** 13n, 1), 705_491);
  t.equal(delayOf(2n, 200n, 2n * 10n ** 13n, 1), 607_358);
  t.equal(delayOf(3n, 300n, 3n * 10n ** 13n, 1), 549_956);
  const norm = normalisation(1_625_000_000_000_000n);
  t.equal(norm, 0.12307692307692308);
  t.equal(delayOf(1n, 100n, 44n * 10n ** 12n, norm), 748_424);
  t.equal(delayOf(2n, 2000n, 8n * 10n ** 12n, norm), 656_957);
  t.equal(delayOf(2n ** 63n - 1n, 153_722_867n, 10n ** 14n, norm), 5_012);
  t.equal(delayOf(0n, 100n, 10n ** 13n, 1), undefined, 'a hit of 0 never generates');
  t.equal(delayOf(2n ** 64n - 1n, 100n, 10n ** 13n, 1), 5_000);
});

t.test('scenario 33: base target vectors of consensus.md#proof-of-stake', async (t) => {
  const next = (interval: number | undefined) =>
    nextBaseTarget(100n, G, interval === undefined ? undefined : G - interval, 100);
  t.equal(next(1_000), 99n);
  t.equal(next(undefined), 100n);
  t.equal(next(300_000), 100n);
  t.equal(next(999_999), 101n);
});

t.test('a base target moves by one percent, at least 1, within its bounds', async (t) => {
  const up = (target: bigint, seconds = 60) => nextBaseTarget(target, G, G - 3_600_000, seconds);
  const down = (target: bigint) => nextBaseTarget(target, G, G - 3, 60);
  t.equal(up(10n), 11n);
  t.equal(up(12_345n), 12_345n + 123n);
  t.equal(down(12_345n), 12_345n - 123n);
  t.equal(down(9n), 9n, 'H-5: never below 9');
  const max = (2n ** 63n - 1n) / 60n;
  t.equal(up(max), max, 'H-5: never above the largest');
  t.equal(up(max - 1n), max);
  t.equal(nextBaseTarget(100n, G, G - 90_999 * 3, 60), 100n, 'an average of 90 s is not too long');
  t.equal(nextBaseTarget(100n, G, G - 91_000 * 3, 60), 101n);
  t.equal(nextBaseTarget(100n, G, G - 30_000 * 3, 60), 100n);
  t.equal(nextBaseTarget(100n, G, G - 29_999 * 3, 60), 99n);
});

t.test('a hit is little-endian', async (t) => {
  t.equal(hitOf(Uint8Array.of(1, 2, 0, 0, 0, 0, 0, 0, 255)), 513n);
  t.equal(hitOf(filled(32, 255)), 2n ** 64n - 1n);
});

t.test('score', async (t) => {
  const score = (baseTarget: bigint) =>
    scorePos({ kind: 'pos', baseTarget, generationSignature: filled(32, 0) });
  t.equal(score(153_722_867n), 2n ** 64n / 153_722_867n);
  t.ok(score(100n) > score(101n), 'scenario 39: a lower base target has the higher score');
});

const pos = createPos({ initialBalance: 1_625_000_000_000_000n, averageDelaySeconds: 60 }, scheme);
const BALANCE = 10n ** 14n;

interface Made extends BlockFacts {
  readonly consensus: PosData;
}

/** A chain of `length` blocks by accounts in turn, each at its first possible millisecond. */
function grow(length: number) {
  const made: Made[] = [
    {
      timestamp: G,
      consensus: {
        kind: 'pos',
        baseTarget: 153_722_867n,
        generationSignature: filled(32, 0),
      },
    },
  ];
  const state = { balance: BALANCE, isMiner: true };
  const asked: number[] = [];
  const view: ConsensusView = {
    minersAt: () => ({ members: [], until: Infinity }),
    approvedAt: () => undefined,
    isMiner: () => state.isMiner,
    banHistory: () => undefined,
    generatorAt: () => publicKey(0),
    lastBlockBy: () => undefined,
    headerAt: (height) => {
      asked.push(height);
      return made[height - 1]!;
    },
    generatingBalance: () => state.balance,
  };
  const parent = (height = made.length) => ({ height, header: made[height - 1]! });
  const block = (account: number, timestamp: number, changed: Partial<PosData> = {}) => {
    const data = pos.fields(parent(), minerIdentity(account), timestamp, view) as PosData;
    return {
      timestamp,
      consensus: { ...data, ...changed },
      generator: publicKey(account),
      signature: filled(64, 1),
    };
  };
  while (made.length < length) {
    const account = made.length % 3;
    const slot = pos.nextSlot(parent(), minerIdentity(account), 0, view);
    const next = block(account, slot!.from);
    pos.verify(next, parent(), view);
    made.push(next);
  }
  asked.length = 0;
  return { made, view, state, parent, block, asked };
}

t.test('scenario 36: parent + delay − 1 is refused, + 0 accepted', async (t) => {
  const { parent, view, block } = grow(20);
  const slot = pos.nextSlot(parent(), minerIdentity(5), 0, view)!;
  t.equal(slot.until, Infinity);
  pos.verify(block(5, slot.from), parent(), view);
  pos.verify(block(5, slot.from + 1_000_000), parent(), view);
  t.throws(() => pos.verify(block(5, slot.from - 1), parent(), view), {
    message: `Block timestamp ${slot.from - 1} less than min valid timestamp ${slot.from}`,
  });
  const now = slot.from + 77;
  t.strictSame(pos.nextSlot(parent(), minerIdentity(5), now, view), {
    start: slot.from,
    from: now,
    until: Infinity,
  });
});

t.test('scenario 37: wrong base target, wrong generation signature', async (t) => {
  const { parent, view, block } = grow(20);
  const { from } = pos.nextSlot(parent(), minerIdentity(5), 0, view)!;
  const right = block(5, from).consensus;
  t.strictSame(
    right.generationSignature,
    sha((parent().header.consensus as PosData).generationSignature, publicKey(5)),
  );
  const declared = right.baseTarget + 1n;
  t.throws(() => pos.verify(block(5, from, { baseTarget: declared }), parent(), view), {
    message: `declared baseTarget ${declared} does not match calculated baseTarget ${right.baseTarget}`,
  });
  const wrong = { generationSignature: filled(32, 9) };
  t.throws(() => pos.verify(block(5, from, wrong), parent(), view), {
    message: /^Generation signatures does not match: Expected = \w+; Found = \w+$/,
  });
  const poa = { ...block(5, from), consensus: { kind: 'poa' as const, skippedRounds: 0 } };
  t.throws(() => pos.verify(poa, parent(), view), {
    message: 'Expected PoS consensus block data, but got PoA instead',
  });
});

t.test('scenario 38: heights 1, 2, 3 and the source of the hit', async (t) => {
  const { made, parent, view, asked } = grow(103);
  const target = (height: number, timestamp: number) =>
    (pos.fields(parent(height), minerIdentity(1), timestamp, view) as PosData).baseTarget;
  const late = G + 10 ** 9;
  for (const height of [1, 2]) {
    t.equal(target(height, late), made[height - 1]!.consensus.baseTarget, 'no third block back');
  }
  t.equal(target(3, late), (made[2]!.consensus.baseTarget * 101n) / 100n);
  asked.length = 0;
  const delayFrom = (source: Made, at: Made) =>
    delayOf(
      hitOf(sha(source.consensus.generationSignature, publicKey(1))),
      at.consensus.baseTarget,
      BALANCE,
      normalisation(1_625_000_000_000_000n),
    )!;
  for (const [height, source] of [
    [100, 100],
    [101, 1],
    [102, 2],
  ] as const) {
    const at = made[height - 1]!;
    const slot = pos.nextSlot(parent(height), minerIdentity(1), 0, view);
    t.equal(slot?.from, at.timestamp + delayFrom(made[source - 1]!, at), `parent height ${height}`);
  }
  t.strictSame(asked, [1, 2]);
});

t.test('scenario 34: the least generating balance', async (t) => {
  const { parent, view, block, state } = grow(5);
  state.balance = MIN_GENERATING_BALANCE - 1n;
  t.equal(pos.nextSlot(parent(), minerIdentity(1), 0, view), undefined);
  t.throws(() => pos.verify(block(1, G + 10 ** 9), parent(), view), {
    message: "generator's effective balance 999999999999 is less that required for generation",
  });
  state.balance = MIN_GENERATING_BALANCE;
  const slot = pos.nextSlot(parent(), minerIdentity(1), 0, view)!;
  pos.verify(block(1, slot.from), parent(), view);
  t.strictSame(pos.finish(block(1, slot.from), parent(), view), []);
});

t.test('an account without the role makes no block', async (t) => {
  const { parent, view, block, state } = grow(5);
  state.isMiner = false;
  t.equal(pos.nextSlot(parent(), minerIdentity(1), 0, view), undefined);
  t.throws(() => pos.verify(block(1, G + 10 ** 9), parent(), view), /is not a miner$/);
});
