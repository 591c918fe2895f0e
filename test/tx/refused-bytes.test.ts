/** Bytes of a block or of a peer that are no value of a field, each with what is said of them. */
import t from 'tap';
import { concat, utf8 } from '../../src/base/bytes.ts';
import { type Codec, CodecError, Reader } from '../../src/codec/codec.ts';
import { createDecoder, layoutTable } from '../../src/tx/decoder.ts';
import { validationPolicy } from '../../src/tx/fields/extensions.ts';
import { orders } from '../../src/tx/fields/order-pair.ts';
import { dueTimestamp, opType, role } from '../../src/tx/fields/permission.ts';
import { proofs } from '../../src/tx/fields/proofs.ts';
import { alias, recipient } from '../../src/tx/fields/recipient.ts';
import { address } from '../../src/tx/fields/shared.ts';
import { contractId } from '../../src/tx/fields/sized-id.ts';
import { EXECUTED_TX_BYTES_MAX } from '../../src/tx/size.ts';
import { decodeTx, readTxBytes } from '../../src/tx/tx-bytes.ts';
import { lease } from '../../src/tx/types/008-lease.ts';
import { addresses, scheme } from '../generators/network.ts';
import { Rng } from '../generators/random.ts';
import { transactionOf } from '../generators/tx.ts';

const of = (...bytes: readonly number[]): Uint8Array => Uint8Array.from(bytes);
const zeros = (count: number): Uint8Array => new Uint8Array(count);
const u16 = (value: number): Uint8Array => of(value >> 8, value & 255);

const { chainId, publicKeySize } = scheme;
/** An order up to its side, with what stands before it. */
const upToSide = [of(0, 0, 0, 1, 1), zeros(2 * publicKeySize), of(0, 0)];
const aliasOf = (size: number, version: number, chain: number, name: string): Uint8Array =>
  concat(u16(size), of(version, chain), u16(name.length), utf8(name));

const fields: readonly (readonly [string, Codec<unknown>, Uint8Array, RegExp])[] = [
  ['a validation policy', validationPolicy, of(3), /unknown validation policy 3/],
  ['an order of version 3', orders, of(0, 0, 0, 1, 3), /order version 3/],
  ['an order that neither buys nor sells', orders, concat(...upToSide, of(2)), /no order type/],
  ['a role', role, of(99), /unknown role name '99'/],
  ['an operation', opType, of(0), /unknown operation string 0/],
  ['a due date with another flag', dueTimestamp, of(2, 0, 0, 0, 0, 0, 0, 0, 0), /malformed due/],
  ['no due date, and yet one', dueTimestamp, of(0, 0, 0, 0, 0, 0, 0, 0, 1), /malformed due/],
  ['proofs of another version', proofs, of(2, 0, 0), /proofs version 2/],
  ['nine proofs', proofs, concat(of(1, 0, 9), zeros(18)), /Too many proofs \(9\)/],
  ['a long proof', proofs, concat(of(1, 0, 1, 0, 65), zeros(65)), /65 bytes/],
  ['an alias that is an address', alias, aliasOf(8, 1, chainId, 'name'), /not an alias/],
  ['an alias of another network', alias, aliasOf(8, 2, chainId + 1, 'name'), /network char/],
  ['an alias with a wrong length', alias, aliasOf(9, 2, chainId, 'name'), /length of alias/],
  ['a long alias', alias, aliasOf(35, 2, chainId, 'n'.repeat(31)), /between 4 and 30/],
  ['an alias with a capital', alias, aliasOf(8, 2, chainId, 'Name'), /only following characters/],
  ['a recipient of version 3', recipient, concat(of(3), zeros(25)), /Unknown address version: 3/],
  ['an address with a wrong sum', address, of(...addresses[0]!.subarray(0, 25), 0), /checksum/i],
  ['a short id', contractId, concat(u16(31), zeros(31)), /expected 32 bytes/],
];

for (const [name, codec, bytes, why] of fields) {
  t.test(name, async (t) => {
    const error = t.throws(() => codec.read(new Reader(bytes, scheme))) as CodecError;
    t.ok(error instanceof CodecError);
    t.match(error.why, why);
  });
}

t.test('whole transactions', async (t) => {
  const second = lease.layouts.find(({ version }) => version === 2)!;
  const leased = transactionOf(lease as never, second as never, new Rng(1)).bytes.slice();
  leased[3] = 1;
  const whole: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ['nothing', of(), /unexpected end of data/],
    ['a zero', of(0), /unexpected end of data/],
    ['a zero and a type', of(0, 4), /unexpected end of data/],
    ['a lease of an asset', leased, /leasing assets is not supported/],
  ];
  for (const [name, bytes, why] of whole) {
    t.throws(() => decodeTx(bytes, scheme), { message: why }, name);
  }
});

t.test('a length that no transaction has is refused before its bytes are read', async (t) => {
  for (const length of [0, EXECUTED_TX_BYTES_MAX + 1]) {
    t.throws(() => readTxBytes(new Reader(new Uint8Array(0), scheme), length), {
      message: `transactions: one of ${length} bytes`,
    });
  }
});

t.test('bytes of which two layouts are right', async (t) => {
  const [first] = lease.layouts;
  const { bytes } = transactionOf(lease as never, first as never, new Rng(1));
  t.doesNotThrow(() => createDecoder(layoutTable([lease as never]))(bytes, scheme));
  t.throws(() => createDecoder(layoutTable([lease, lease] as never))(bytes, scheme), {
    message: /the bytes fit more than one layout/,
  });
});
