/**
 * The check of signatures (accounts.md#signatures). The verdict is libsodium's: S < L, no point of
 * small order, no non-canonical key, no cofactor.
 *
 * libsodium checks a key that has signed seldom. One that has signed often gets a table, with which a
 * check takes half the time. Where there is no memory for tables, or the processor cannot run them,
 * libsodium checks all: no verdict depends on the machine.
 */
import type { SignatureCheck } from '../../base/ports/verifier.ts';
import { sodium } from '../sodium.ts';
import { EdwardsKeys } from './edwards-keys.ts';
import { edwardsOf } from './field.ts';
import type { KeyTable, KeyTables } from './key-tables.ts';
import { isWeakPublicKey, KEY_SIZE } from './keys.ts';
import { LAST, SIGN_BIT, SIGNATURE_SIZE } from './signatures.ts';
import { MESSAGE_MAX, TableChecks } from './table-checks.ts';

/** Bits of the last byte that are 0 in every S below L. */
const EXCESS_BITS = 0x60;
/** 8 MiB. */
const TABLES_MAX = 800;
/** A small cache has no tables. */
const CACHED_KEYS_OF_TABLE = 8;
/** A key gets a table with so many good signatures. */
const SIGNATURES_BEFORE = 8;

export class SignatureVerification {
  private readonly known: EdwardsKeys;
  private tablesMax: number;
  private checks: TableChecks | undefined;
  /** The Edwards key and the signature, as libsodium takes them. */
  private readonly key = new Uint8Array(KEY_SIZE);
  private readonly signature = new Uint8Array(SIGNATURE_SIZE);

  /** The number of converted public keys to keep; see EdwardsKeys. */
  constructor(cachedKeys: number) {
    this.known = new EdwardsKeys(cachedKeys);
    this.tablesMax = Math.min(TABLES_MAX, Math.floor(cachedKeys / CACHED_KEYS_OF_TABLE));
  }

  /** False for anything malformed. */
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
    return this.begin(publicKey, message, signature) ?? this.checks!.verdicts()[0]!;
  }

  /** The verdicts in the order of the checks. Together they take less time than one by one. */
  verifyAll(checks: readonly SignatureCheck[]): boolean[] {
    this.convert(checks);
    const out = new Array<boolean>(checks.length);
    let waiting: number[] = [];
    const settle = (): void => {
      for (const [n, verdict] of (this.checks?.verdicts() ?? []).entries())
        out[waiting[n]!] = verdict;
      waiting = [];
    };
    try {
      for (const [i, { publicKey, message, signature }] of checks.entries()) {
        const verdict = this.begin(publicKey, message, signature);
        if (verdict !== undefined) out[i] = verdict;
        else waiting.push(i);
        if (this.checks?.isFull) settle();
      }
      settle();
    } catch (cause) {
      // The next call must not take the verdicts of this one.
      this.checks?.forget();
      throw cause;
    }
    return out;
  }

  /** The verdict, or undefined: then it is the next one of `checks`. */
  private begin(
    publicKey: Uint8Array,
    message: Uint8Array,
    signature: Uint8Array,
  ): boolean | undefined {
    if (publicKey.length !== KEY_SIZE || signature.length !== SIGNATURE_SIZE) return false;
    const last = signature[LAST]!;
    if ((last & EXCESS_BITS) !== 0 || isWeakPublicKey(publicKey)) return false;
    const table = message.length <= MESSAGE_MAX ? this.checks?.tables.find(publicKey) : undefined;
    this.take(table, publicKey, signature);
    if (table !== undefined) {
      return this.checks!.add(table, this.key, message, this.signature) ? undefined : false;
    }
    const isGood = sodium.crypto_sign_verify_detached(this.signature, message, this.key);
    if (isGood) this.count(publicKey);
    return isGood;
  }

  /** Fills `key` and `signature`. */
  private take(table: KeyTable | undefined, publicKey: Uint8Array, signature: Uint8Array): void {
    const { known, key } = this;
    const last = signature[LAST]!;
    if (table !== undefined) key.set(table.y);
    else if (!known.copy(publicKey, key)) {
      const [y] = edwardsOf([publicKey]);
      known.add(publicKey, y!);
      key.set(y!);
    }
    key[KEY_SIZE - 1]! |= last & SIGN_BIT;
    this.signature.set(signature);
    this.signature[LAST] = last & ~SIGN_BIT;
  }

  /** Only keys that libsodium takes get a table: points of the curve, and none of small order. */
  private count(publicKey: Uint8Array): void {
    if (this.tablesMax === 0 || this.known.count(publicKey) < SIGNATURES_BEFORE) return;
    const y = new Uint8Array(KEY_SIZE);
    if (!this.known.copy(publicKey, y)) return;
    this.withTables()?.add(publicKey, y);
  }

  private withTables(): KeyTables | undefined {
    try {
      this.checks ??= new TableChecks(this.tablesMax);
      return this.checks.tables;
    } catch {
      this.tablesMax = 0;
      return undefined;
    }
  }

  /** Converts all keys that are not yet known, with one inversion. */
  private convert(checks: readonly SignatureCheck[]): void {
    const { known } = this;
    const fresh = checks
      .map(({ publicKey }) => publicKey)
      .filter((key) => key.length === KEY_SIZE && !known.has(key));
    if (fresh.length === 0) return;
    const ys = edwardsOf(fresh);
    for (const [i, key] of fresh.entries()) if (!known.has(key)) known.add(key, ys[i]!);
  }
}
