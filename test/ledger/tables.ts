/** Tables and a chain for the ledger tests. */
import { createHash } from 'node:crypto';
import type { ChainScheme, Codec } from '../../src/codec/codec.ts';
import { fixed, type KeyPart, tuple, u32Key } from '../../src/ledger/key-codecs.ts';
import type { Table } from '../../src/ledger/table.ts';

const unused = (): never => {
  throw new Error('not used by these tests');
};

const FREE = { fixed: 0, per: 0, each: 1 };

export const scheme: ChainScheme = {
  chainId: 84,
  charges: { hash: FREE, verify: FREE },
  nativeToken: 'WEST',
  publicKeySize: 32,
  addressOf: unused,
  addressToText: unused,
  accountTexts: unused,
  addressFromText: unused,
  addressProblem: unused,
  secureHash: unused,
  verify: unused,
  fastHash: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()),
};

const codec = <T>(write: Codec<T>['write'], read: Codec<T>['read']): Codec<T> => ({
  write,
  read,
  toJson: unused,
  fromJson: unused,
  schema: {},
});

export const number: Codec<number> = codec(
  (out, value) => out.u53(value),
  (src) => src.u53(),
);
export const bytes: Codec<Uint8Array> = codec(
  (out, value) => out.bytes(value),
  (src) => src.bytes(src.remaining),
);
export interface Account {
  readonly balance: bigint;
  readonly leased: bigint;
}
export const account: Codec<Account> = codec(
  (out, value) => {
    out.i64(value.balance);
    out.i64(value.leased);
  },
  (src) => ({ balance: src.i64(), leased: src.i64() }),
);

const table = <K, V>(
  id: number,
  name: string,
  kind: Table<K, V>['kind'],
  key: KeyPart<K>,
  value: Codec<V>,
  cached = 0,
): Table<K, V> => ({ id, name, doc: '', kind, key, value, cached });

export const accounts = table(1, 'accounts', 'state', fixed(2), account, 4);
/** Bytes of any length as the last part; a key that consists of them alone must not be empty. */
const bytesTail: KeyPart<Uint8Array> = {
  width: undefined,
  size: (key) => key.length,
  put: (target, at, key) => target.set(key, at),
  take: (bytes, at, end) => bytes.subarray(at, end),
  encode: (key) => key,
  decode: (bytes) => bytes,
};

export const texts = table(2, 'texts', 'state', bytesTail, bytes, 3);
export const plain = table(3, 'plain', 'state', bytesTail, number);
export const history = table(4, 'history', 'index', tuple(fixed(2), u32Key), account);
export const own = table(5, 'own', 'local', bytesTail, bytes, 4);
export const undo = table(8, 'undo', 'local', u32Key, bytes);
export const stateHashes = table(9, 'stateHashes', 'local', u32Key, bytes);

export const tables = [
  accounts,
  texts,
  plain,
  history,
  own,
  undo,
  stateHashes,
] as unknown as readonly Table<never, never>[];
