// The size of a transaction: one limit for every input, checked before work on the contents.
import t from 'tap';
import { ApiError } from '../../src/base/errors.ts';
import type { JsonObject } from '../../src/base/json/json.ts';
import { decodeBlock, sealBlock } from '../../src/block/block.ts';
import type { UnsignedHeader } from '../../src/block/header.ts';
import { CodecError } from '../../src/codec/codec.ts';
import { base58 } from '../../src/codec/text.ts';
import {
  decodeCompact,
  decodeTxList,
  encodeCompact,
  encodeTxList,
} from '../../src/network/messages/block-messages.ts';
import { txFromJson } from '../../src/tx/json/encode.ts';
import { transactionSchemas } from '../../src/tx/json/transaction-schemas.ts';
import { allTypes } from '../../src/tx/registry.ts';
import { CONTRACT_TX_BYTES_MAX, EXECUTED_TX_BYTES_MAX, TX_BYTES_MAX } from '../../src/tx/size.ts';
import { decodeTx } from '../../src/tx/tx-bytes.ts';
import { addresses, publicKeys, scheme } from '../generators/network.ts';
import { policyBytes } from '../generators/oversized.ts';

/** A type 112 that names one recipient so many times. */
const policyOf = (members: number): Uint8Array =>
  policyBytes(
    {
      publicKey: publicKeys[0]!,
      member: addresses[0]!,
      members,
      timestamp: 1_574_240_400_000,
      fee: 0n,
      sign: () => new Uint8Array(64),
    },
    scheme,
  );

const EMPTY_BYTES = policyOf(0).length;
const most = Math.floor((TX_BYTES_MAX - EMPTY_BYTES) / 26);

const thrown = (action: () => unknown): unknown => {
  try {
    action();
  } catch (cause) {
    return cause;
  }
  throw new Error('it was accepted');
};

t.test('bytes: the largest is read, one more member is not', (t) => {
  t.equal(decodeTx(policyOf(most), scheme).type, 112);
  for (const count of [most + 1, 12_000, 1_000_000]) {
    const error = thrown(() => decodeTx(policyOf(count), scheme));
    t.ok(error instanceof CodecError);
    t.match((error as CodecError).api, { code: 10 }, `${count} members`);
  }
  t.end();
});

t.test('bytes that are too many are not looked at', (t) => {
  let asked = 0;
  const counting = {
    ...scheme,
    addressProblem(bytes: Uint8Array) {
      asked++;
      return scheme.addressProblem(bytes);
    },
  };
  thrown(() => decodeTx(policyOf(12_000), counting));
  t.equal(asked, 0);
  t.end();
});

const member = scheme.addressToText(addresses[0]!);
const policy = (recipients: number, owners: number): JsonObject => ({
  ...{ type: 112, version: 1, policyName: 'p', description: '', fee: 0, timestamp: 0, proofs: [] },
  senderPublicKey: base58.encode(publicKeys[0]!),
  recipients: Array(recipients).fill(member),
  owners: Array(owners).fill(member),
});

t.test('JSON: lists that are too long together are refused before their items are read', (t) => {
  t.equal(txFromJson(policy(most - 1, 0), scheme).type, 112);
  let asked = 0;
  const counting = {
    ...scheme,
    addressFromText(text: string) {
      asked++;
      return scheme.addressFromText(text);
    },
  };
  for (const [recipients, owners] of [
    [12_000, 0],
    [0, 12_000],
    [3_000, 3_000],
  ] as const) {
    const error = thrown(() => txFromJson(policy(recipients, owners), counting));
    t.ok(error instanceof ApiError);
    t.match(error, { code: 10, status: 400, message: /at most 153600/ });
  }
  t.equal(asked, 0);
  t.end();
});

t.test('JSON: text fields that are too long together are refused', (t) => {
  const entry = { type: 'string', value: 'x'.repeat(32_000) };
  const request = (entries: number): JsonObject => ({
    ...{ type: 12, version: 1, fee: 0, timestamp: 0, proofs: [] },
    senderPublicKey: base58.encode(publicKeys[0]!),
    data: Array.from({ length: entries }, (_, i) => ({ key: `k${i}`, ...entry })),
  });
  t.equal(txFromJson(request(4), scheme).type, 12);
  t.match(
    thrown(() => txFromJson(request(5), scheme)),
    { code: 10 },
  );
  t.end();
});

t.test('every type has its limit', (t) => {
  for (const { type, bytesMax = TX_BYTES_MAX } of allTypes) {
    const expected = [103, 104, 107].includes(type)
      ? CONTRACT_TX_BYTES_MAX
      : [105, 120].includes(type)
        ? EXECUTED_TX_BYTES_MAX
        : TX_BYTES_MAX;
    t.equal(bytesMax, expected, `type ${type}`);
  }
  t.end();
});

t.test('blocks and messages cut out nothing that is too long', (t) => {
  const large = policyOf(most);
  const tooLarge = policyOf(most + 1);
  const executed = new Uint8Array(EXECUTED_TX_BYTES_MAX);
  executed.set([0, 105]);
  const tooLargeExecuted = new Uint8Array(EXECUTED_TX_BYTES_MAX + 1);
  tooLargeExecuted.set([0, 105]);
  const unsigned: UnsignedHeader = {
    version: 3,
    timestamp: 1,
    reference: new Uint8Array(64),
    consensus: { kind: 'poa', skippedRounds: 0 },
    generator: publicKeys[0]!,
    features: [],
  };
  const sign = (): Uint8Array => new Uint8Array(64);
  const { header } = sealBlock(unsigned, [], scheme, sign);
  const doors: Record<string, (tx: Uint8Array) => unknown> = {
    block: (tx) => decodeBlock(sealBlock(unsigned, [tx], scheme, sign).bytes, scheme),
    'compact block': (tx) =>
      decodeCompact(encodeCompact({ header, txs: [{ bytes: tx }] }, scheme), scheme),
    'list of transactions': (tx) => decodeTxList(encodeTxList([tx], scheme), scheme),
  };
  for (const [door, pass] of Object.entries(doors)) {
    for (const tx of [large, executed]) t.ok(pass(tx), `${door}: ${tx.length} bytes`);
    for (const tx of [tooLarge, tooLargeExecuted]) {
      t.ok(thrown(() => pass(tx)) instanceof CodecError, `${door}: ${tx.length} bytes`);
    }
  }
  t.end();
});

t.test('every list of every type declares how long it may be', (t) => {
  let lists = 0;
  function look(schema: unknown, where: string): void {
    if (typeof schema !== 'object' || schema === null) return;
    const { type, maxItems } = schema as JsonObject;
    if (type === 'array') {
      lists++;
      t.ok(Number.isInteger(maxItems) && Number(maxItems) < 100_000, `${where}: ${maxItems}`);
    }
    for (const [name, inner] of Object.entries(schema)) look(inner, `${where}.${name}`);
  }
  for (const [name, schema] of Object.entries(transactionSchemas())) look(schema, name);
  t.ok(lists > 100, `${lists} lists`);
  t.end();
});
