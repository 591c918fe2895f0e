/** Requests that are nearly right: paths, queries, keys and bodies that some route might take. */
import fc from 'fast-check';
import { routes } from '../../src/api/routes/index.ts';
import type { Rng } from '../generators/random.ts';

const fields = [
  'type',
  'version',
  'sender',
  'senderPublicKey',
  'addresses',
  'timestamp',
  'message',
  'signature',
  'publicKey',
  'recipient',
  'amount',
  'fee',
  'proofs',
  'transfers',
  'data',
  'contracts',
  'keys',
  'password',
  'host',
  'port',
  'addressesOrAliases',
  'recipientsPublicKeys',
  'assetId',
  '__proto__',
];
const types = fc.constantFrom(1, 2, 3, 4, 7, 8, 10, 11, 12, 13, 14, 102, 103, 105, 111, 112, 114);

/** About an account of the node, with these keys. */
export function nearlyRight(address: string, keys: readonly string[]) {
  const segment = fc.oneof(
    fc.constantFrom(address, `address:${address}`, '0', '1', '-1', '99999999999', 'abc', '%ZZ'),
    fc.constantFrom(
      '%00',
      '%2F',
      '..',
      '0OIl',
      '1'.repeat(100),
      'alias:T:name',
      '__proto__',
      '%F0%9F',
    ),
    fc.string({ maxLength: 40 }).map(encodeURIComponent),
    fc
      .string({ unit: 'binary', maxLength: 20 })
      .map((text) => encodeURIComponent(text.toWellFormed())),
  );
  const path = fc
    .constantFrom(...routes.flatMap((route) => [route.path, ...(route.also ?? [])]))
    .chain((pattern) => {
      const parts = pattern.split('/');
      const filled = parts.map((part) => (part.startsWith('{') ? segment : fc.constant(part)));
      return fc.tuple(...filled).map((texts) => texts.join('/'));
    });
  const query = fc.oneof(
    fc.constant(''),
    fc
      .tuple(fc.constantFrom('after', 'limit', 'offset', 'matches', 'full', 'x'), segment)
      .map(([name, value]) => `?${name}=${value}`),
  );
  const leaf = fc.oneof(
    fc.constantFrom(null, 0, -1, 4, 1.5, 1e300, true, '', 'x', address, '1'.repeat(44), '5'),
    fc.string(),
    fc.integer(),
  );
  const value = fc.oneof(
    leaf,
    fc.array(leaf, { maxLength: 4 }),
    fc.array(fc.dictionary(fc.constantFrom(...fields, 'key', 'value'), leaf), { maxLength: 3 }),
  );
  const object = fc.dictionary(fc.constantFrom(...fields), value);
  const transaction = fc.tuple(types, object).map(([type, rest]) => ({
    sender: address,
    senderPublicKey: '4WnvQPit2Di1iYXDgDcXnJZ5yroKW54vauNoxdNeMi2g',
    timestamp: 1_600_000_000_000,
    fee: 1,
    ...rest,
    type,
  }));
  const body = fc.oneof(
    fc.constantFrom('', '{', '[]', 'null', '0', '"x"', '{"a":', '\0', '[[[[[[[['),
    fc.string(),
    object.map((json) => JSON.stringify(json)),
    transaction.map((json) => JSON.stringify(json)),
  );
  const key = fc.constantFrom(...keys);

  const request = fc.record({
    method: fc.constantFrom('GET', 'POST'),
    path,
    query,
    body,
    key,
  });
  return { request, transaction };
}

/** A valid text with a few other characters, or without its end. */
export function mutated(text: string, rng: Rng): string {
  const bytes = Buffer.from(text);
  for (let i = rng.below(4); i > 0 && bytes.length > 0; i--)
    bytes[rng.below(bytes.length)] = rng.u32();
  return bytes.toString('latin1', 0, rng.chance(4) ? rng.below(bytes.length + 1) : bytes.length);
}
