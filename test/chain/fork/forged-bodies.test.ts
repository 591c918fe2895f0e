/** A good header with a body that nobody has signed: its sender answers for it, not the block. */
import t from 'tap';
import { concat, latin1 } from '../../../src/base/bytes.ts';
import { apiError } from '../../../src/base/errors.ts';
import { SIGNATURE_BYTES } from '../../../src/base/sizes.ts';
import { type Block, blockId, decodeBlock, encodeBlock } from '../../../src/block/block.ts';
import { BOUND_VERSION } from '../../../src/block/header.ts';
import { TX_BYTES_MAX } from '../../../src/tx/size.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { decodeUnreadTx } from '../../../src/tx/tx-bytes.ts';
import { issue } from '../../../src/tx/types/003-issue.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { data } from '../../../src/tx/types/012-data.ts';
import { atomic, sealedForBlock } from '../../../src/tx/types/120-atomic.ts';
import { compiled } from '../../generators/scripts.ts';
import {
  mine,
  newChain,
  nextTurn,
  payment,
  remade,
  scheme,
  signed,
  users,
} from '../chain-harness.ts';
import { createTestForkChoice } from '../fork-harness.ts';

const [alice, bob] = users;
const EMPTY = new Uint8Array(0);
const AT = 1_700_000_000_000;
const OWN_BADGE = { atomicBadge: { trustedSender: undefined } };
const FEE = { fee: 1n, feeAssetId: undefined, timestamp: AT };
const seal = { publicKey: alice.publicKey, sign: () => new Uint8Array(SIGNATURE_BYTES) };

const one = signed(
  transfer,
  alice,
  {
    ...{ recipient: { kind: 'address', bytes: bob.address }, assetId: undefined, amount: 1n },
    ...{ attachment: EMPTY, ...FEE, ...OWN_BADGE },
  },
  3,
);

const HASH = new Uint8Array(32);
const BOUND = { parentHash: HASH, bodyHash: HASH, justification: EMPTY };

const group = (member: Tx): Tx => {
  const transactions = [member, one as unknown as Tx];
  return signed(atomic, alice, { transactions, timestamp: AT }, 1) as unknown as Tx;
};

/** A chain, its next block, and the same header with another body. */
async function forged(body: Uint8Array) {
  const [there, here] = [await newChain(), await newChain()];
  const good = await mine(there, [payment(alice, bob, 5n, there.clock.time)]);
  here.clock.time = there.clock.time;
  const bad = decodeBlock(encodeBlock(good.header, [body], scheme), scheme);
  const whole = (): Block => decodeBlock(good.bytes, scheme);
  return { here, bad, whole };
}

t.test('a script that cannot be read is not read before the signature is checked', async (t) => {
  const script = compiled('true', 'asset');
  const token = signed(
    issue,
    alice,
    {
      ...{ name: 'token', description: '', quantity: 5n, decimals: 0 },
      ...{ reissuable: true, script, fee: 1n, timestamp: AT, ...OWN_BADGE },
    },
    3,
  );
  const body = sealedForBlock(group(token as unknown as Tx), seal).bytes.slice();
  const at = latin1(body).indexOf(latin1(script));
  body[at + 1]! ^= 0xff;
  t.equal(decodeUnreadTx(body, scheme).type, 120, 'it is read as far as a body is');
  const { here, bad, whole } = await forged(body);
  const fork = createTestForkChoice(here);
  const verdict = await fork.adopt([await fork.check(bad)]);
  t.match(verdict, { kind: 'invalid', isForged: true, error: { entry: 'InvalidSignature' } });
  t.match(await fork.adopt([await fork.check(whole())]), { kind: 'adopted' });
  fork.stop();
});

t.test('what the generator adds is no part of 150 KiB, and nothing else is', async (t) => {
  const long = (last: number): Tx =>
    signed(
      data,
      alice,
      {
        ...{ authorPublicKey: alice.publicKey, ...FEE, ...OWN_BADGE },
        data: Array.from({ length: 5 }, (_, i) => ({
          ...{ key: `k${i}`, type: 'string' as const },
          value: 'x'.repeat(i === 0 ? last : 30_500),
        })),
      },
      3,
    ) as unknown as Tx;
  const first = group(long(1));
  const largest = group(long(1 + TX_BYTES_MAX - first.bytes.length));
  t.equal(largest.bytes.length, TX_BYTES_MAX);
  const sealed = sealedForBlock(largest, seal);
  const sealBytes = seal.publicKey.length + SIGNATURE_BYTES;
  t.equal(decodeUnreadTx(sealed.bytes, scheme).bytes.length, TX_BYTES_MAX + sealBytes);
  // With a second, empty proof of its sender.
  const tooLong = concat(sealed.bytes, Uint8Array.of(0, 0));
  tooLong[sealed.bytes.length - 67]!++;
  t.throws(() => decodeUnreadTx(tooLong, scheme), { message: /of 153602 bytes/ });
  const { here, bad, whole } = await forged(tooLong);
  const fork = createTestForkChoice(here);
  for (const verdict of [await fork.adopt([await fork.check(bad)]), await fork.offer(bad)]) {
    t.match(verdict, { kind: 'invalid', isForged: true, error: { message: /of 153602 bytes/ } });
  }
  t.match(await fork.adopt([await fork.check(whole())]), { kind: 'adopted' });
  fork.stop();
});

t.test(
  'of what is refused while the checks are composed, only what is signed is remembered',
  async (t) => {
    for (const isGood of [false, true]) {
      const { here, bad, whole } = await forged(one.bytes);
      let isRefused = true;
      const fork = createTestForkChoice(here, {
        knownVerdicts() {
          if (isRefused) throw apiError('Invalid', 'cannot be composed');
          return undefined;
        },
      });
      const verdict = await fork.adopt([await fork.check(isGood ? whole() : bad)]);
      const error = { message: /cannot be composed/ };
      t.match(verdict, { kind: 'invalid', isForged: !isGood, error });
      t.equal(fork.invalid.has(blockId(bad)), isGood);
      isRefused = false;
      if (!isGood) t.match(await fork.adopt([await fork.check(whole())]), { kind: 'adopted' });
      fork.stop();
    }
  },
);

t.test('who has signed a body that cannot be read answers for it', async (t) => {
  const there = await newChain();
  const { miner } = nextTurn(there);
  const good = await mine(there);
  const unknown = Uint8Array.of(0, 200, 1);
  for (const header of [{}, { version: BOUND_VERSION, bound: BOUND } as const]) {
    const bad = remade(good, miner, { ...header, transactions: [unknown] });
    const forged = decodeBlock(encodeBlock(bad.header, [unknown, unknown], scheme), scheme);
    for (const route of ['check', 'offer'] as const) {
      const here = await newChain();
      here.clock.time = there.clock.time;
      const fork = createTestForkChoice(here);
      const verdict = async (block: Block) =>
        route === 'offer' ? fork.offer(block) : fork.adopt([await fork.check(block)]);
      t.match(await verdict(forged), { kind: 'invalid', isForged: true });
      t.notOk(fork.invalid.has(blockId(bad)), 'another body may be good');
      const error = { entry: 'BadTransactionType' };
      t.match(await verdict(bad), { kind: 'invalid', isForged: false, error });
      t.ok(fork.invalid.has(blockId(bad)));
      fork.stop();
    }
  }
});

t.test('a fault of this node while checks are composed says nothing about the block', async (t) => {
  const { here, whole } = await forged(one.bytes);
  const fault = new Error('a fault of this node');
  const fork = createTestForkChoice(here, {
    knownVerdicts() {
      throw fault;
    },
  });
  await t.rejects(fork.adopt([await fork.check(whole())]), fault);
  t.notOk(fork.invalid.has(blockId(whole())));
  fork.stop();
});
