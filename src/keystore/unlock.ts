/**
 * Private keys of accounts with a password of their own, once unlocked.
 *
 * Unlocking costs one scrypt (0.3 s, 128 MiB), far too much for every request. So an unlocked key
 * stays in memory beside a keyed hash of its password, and the right password then costs
 * microseconds. The disadvantage: keys of accounts in use can be read from the memory of a running
 * node. To limit this, only the process itself may read that memory, the cache is bounded, and
 * reload and close overwrite it. The cache never answers a wrong password; each one costs a scrypt.
 * One scrypt runs at a time for signing and one for everything else, each with its own queue. So
 * guessing over REST is as slow as guessing on the file, and guessing on /crypto does not delay
 * signing.
 */
import { Semaphore } from '../concurrency/semaphore.ts';
import { mac, sameBytes } from '../crypto/keystore-cipher.ts';

const UNLOCKED_MAX = 256;
/** The use of a key. */
export type Purpose = 'signing' | 'encryption';

const DERIVATIONS_WAITING = 32;
const oneAtATime = (): Semaphore => new Semaphore(1, { inAll: DERIVATIONS_WAITING });

interface Unlocked {
  readonly tag: Uint8Array;
  readonly privateKey: Uint8Array;
}

export interface UnlockedKeys {
  /** The key, if it was unlocked before with this password. */
  get(account: string, password: string): Uint8Array | undefined;
  /** Runs `derive` and keeps its key. Rejects with ApiError Overloaded when too many calls wait. */
  unlock(
    account: string,
    password: string,
    derive: () => Promise<Uint8Array | undefined>,
    purpose: Purpose,
  ): Promise<Uint8Array | undefined>;
  /** Overwrites and forgets every key. */
  wipe(): void;
}

/** `secret`: 32 random bytes of this process, so that a tag reveals nothing about a password. */
export function createUnlockedKeys(secret: Uint8Array): UnlockedKeys {
  const unlocked = new Map<string, Unlocked>();
  const running = new Map<string, Promise<Uint8Array | undefined>>();
  const derivations = { signing: oneAtATime(), encryption: oneAtATime() };
  let generation = 0;
  const tagOf = (password: string): Uint8Array => mac(secret, new TextEncoder().encode(password));

  /** In the exact order of use, since what leaves is overwritten, which a BoundedCache does not. */
  function keep(account: string, entry: Unlocked): void {
    unlocked.delete(account);
    unlocked.set(account, entry);
    if (unlocked.size <= UNLOCKED_MAX) return;
    const [oldest, evicted] = unlocked.entries().next().value!;
    evicted.privateKey.fill(0);
    unlocked.delete(oldest);
  }

  return {
    get(account, password) {
      const found = unlocked.get(account);
      if (found === undefined || !sameBytes(found.tag, tagOf(password))) return undefined;
      unlocked.delete(account);
      unlocked.set(account, found);
      return copyOf(found.privateKey);
    },

    unlock(account, password, derive, purpose) {
      const tag = tagOf(password);
      const job = `${purpose} ${account} ${Buffer.from(tag).toString('hex')}`;
      const same = running.get(job);
      if (same !== undefined) return same.then(copyOf);
      const started = generation;
      const result = derivations[purpose]
        .run(derive)
        .then((privateKey) => {
          // A key whose unlocking began before a reload belongs to the old file.
          if (privateKey !== undefined && started === generation) {
            keep(account, { tag, privateKey });
          }
          return privateKey;
        })
        .finally(() => running.delete(job));
      running.set(job, result);
      return result.then(copyOf);
    },

    wipe() {
      generation += 1;
      for (const { privateKey } of unlocked.values()) privateKey.fill(0);
      unlocked.clear();
    },
  };
}

// Every caller overwrites the key that it received; the cached copy is overwritten when it leaves
// the cache. `slice` would not do: a Buffer's slice is a view.
const copyOf = <K extends Uint8Array | undefined>(key: K): K =>
  (key === undefined ? key : Uint8Array.from(key)) as K;
