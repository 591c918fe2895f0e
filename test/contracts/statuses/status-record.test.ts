// Status records: their bytes, what is signed, and what is refused.
import fc from 'fast-check';
import t from 'tap';
import { concat, utf8 } from '../../../src/base/bytes.ts';
import { CodecError } from '../../../src/codec/codec.ts';
import {
  decodeStatuses,
  encodeStatuses,
  RECORDS_MAX,
  statusBudget,
} from '../../../src/contracts/statuses/status-messages.ts';
import {
  cutMessage,
  decodeRecord,
  MESSAGE_CHARS_MAX,
  RECORD_BYTES_MAX,
  signedPart,
  type UnsignedStatus,
} from '../../../src/contracts/statuses/status-record.ts';
import { account, family, scheme } from '../../chain/chain-harness.ts';
import { Rng } from '../../generators/random.ts';

const miner = account('miner of a contract');
const txId = new Uint8Array(32).fill(7);
const refusal: UnsignedStatus = {
  senderPublicKey: miner.publicKey,
  txId,
  status: 'Error',
  code: 3,
  message: 'no — funds',
  timestamp: 1_560_000_000_000,
};
const sealed = (record: UnsignedStatus): Uint8Array => {
  const signed = signedPart(record, scheme);
  return concat(signed, miner.sign(signed));
};

t.test('the bytes are those of the format', async (t) => {
  const text = utf8(refusal.message);
  const head = Buffer.alloc(2 + 32 + 2 + 5 + 1 + 4 + 2);
  let at = head.writeUInt16BE(32);
  at += head.fill(7, at, at + 32) && 32;
  at = head.writeUInt16BE(5, at);
  at += head.write('Error', at);
  at = head.writeUInt8(1, at);
  at = head.writeInt32BE(3, at);
  head.writeUInt16BE(text.length, at);
  const tail = Buffer.alloc(8);
  tail.writeBigInt64BE(1_560_000_000_000n);
  const expected = concat(miner.publicKey, head, text, tail);
  t.strictSame(Buffer.from(signedPart(refusal, scheme)), Buffer.from(expected));

  const without = signedPart({ ...refusal, code: undefined }, scheme);
  t.equal(without.length, expected.length - 4, 'no code takes one byte');
});

t.test('a record comes back as it was, and its signature is good', async (t) => {
  const bytes = sealed(refusal);
  const { signature, ...rest } = decodeRecord(bytes, scheme);
  t.strictSame({ ...rest }, refusal);
  t.ok(family.verify(miner.publicKey, signedPart(rest, scheme), signature));
  const any = fc.record({
    senderPublicKey: fc.constant(miner.publicKey),
    txId: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    status: fc.constantFrom('Success' as const, 'Error' as const, 'Failure' as const),
    code: fc.option(fc.integer(), { nil: undefined }),
    message: fc.string({ maxLength: 2 * MESSAGE_CHARS_MAX, unit: 'binary' }).map(cutMessage),
    timestamp: fc.maxSafeNat(),
  });
  fc.assert(
    fc.property(any, (record) => {
      const bytes = concat(signedPart(record, scheme), new Uint8Array(64));
      t.ok(bytes.length <= RECORD_BYTES_MAX);
      const { signature: _, ...back } = decodeRecord(bytes, scheme);
      t.same(back, record);
    }),
    { numRuns: 200 },
  );
});

t.test('messages are cut to whole characters', async (t) => {
  t.equal(cutMessage('short'), 'short');
  t.equal(cutMessage('x'.repeat(1001)).length, 1000);
  const pairs = `${'x'.repeat(999)}😀`;
  t.equal(cutMessage(pairs), 'x'.repeat(999), 'no half of a character remains');
  t.equal(cutMessage('\ud800'), '\ufffd');
});

t.test('what is no record is refused', async (t) => {
  const bytes = sealed(refusal);
  const refused = (name: string, of: Uint8Array) =>
    t.throws(() => decodeRecord(of, scheme), CodecError, name);
  refused('trailing bytes', concat(bytes, new Uint8Array(1)));
  refused('too short', bytes.subarray(0, -1));
  refused('another status', sealed({ ...refusal, status: 'Maybe' as never }));
  refused('an id of another length', sealed({ ...refusal, txId: new Uint8Array(31) }));
  refused('a message of 1001 characters', sealed({ ...refusal, message: 'x'.repeat(1001) }));
});

t.test('batches hold 1 to 50 records and nothing else', async (t) => {
  const bytes = sealed(refusal);
  for (const count of [1, RECORDS_MAX]) {
    const message = encodeStatuses(Array(count).fill(bytes), scheme);
    t.ok(message.length <= statusBudget.bytesIn);
    const list = decodeStatuses(message, scheme);
    t.equal(list.length, count);
    t.strictSame(Buffer.from(list.at(-1)!.bytes), Buffer.from(bytes));
    t.strictSame(Buffer.from(list.at(-1)!.signed), Buffer.from(bytes.subarray(0, -64)));
  }
  for (const list of [[], Array(RECORDS_MAX + 1).fill(bytes)]) {
    t.throws(() => decodeStatuses(encodeStatuses(list, scheme), scheme), CodecError);
  }
  const rng = new Rng(3);
  const good = encodeStatuses([bytes, bytes], scheme);
  for (let i = 0; i < 5_000; i++) {
    const damaged = good.slice(0, rng.chance(2) ? rng.below(good.length + 1) : good.length);
    for (let k = rng.below(3); k >= 0 && damaged.length > 0; k--) {
      damaged[rng.below(damaged.length)] = rng.u32();
    }
    try {
      decodeStatuses(damaged, scheme);
    } catch (error) {
      if (!(error instanceof CodecError)) t.fail(String(error));
    }
  }
});

t.test('a record about an id of another length', (t) => {
  const short = sealed(refusal);
  short[miner.publicKey.length + 1] = 31;
  t.throws(() => decodeRecord(short, scheme), { message: /31 bytes are no transaction id/ });
  t.end();
});
