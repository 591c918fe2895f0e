/** Parts of a node, one of which throws once on demand. */

import type { Verifier } from '../../src/base/ports/verifier.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { Trial } from '../../src/mempool/admission/trial.ts';
import { createPool, type Pool } from '../../src/mempool/pool.ts';
import type { PoolChain } from '../../src/mempool/pool-chain.ts';
import {
  newChain,
  quiet,
  rules,
  scheme,
  type TestChain,
  verifier,
} from '../chain/chain-harness.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';

/** Throws once, as soon as it is armed. */
export class Charge {
  private make: (() => Error) | undefined;
  fired = 0;

  arm(make: () => Error): void {
    this.make = make;
    this.fired = 0;
  }

  pass(): void {
    const { make } = this;
    this.make = undefined;
    if (make === undefined) return;
    this.fired++;
    throw make();
  }
}

/** The same object, except that this method passes the charge first. */
export function mined<T extends object, K extends keyof T>(part: T, name: K, charge: Charge): T {
  return new Proxy(part, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (key === name) charge.pass();
        return value.apply(target, args);
      };
    },
  });
}

/** What nobody catches while this runs: each would stop a node. */
export async function unhandled(action: () => Promise<unknown>): Promise<unknown[]> {
  const found: unknown[] = [];
  const note = (cause: unknown): void => void found.push(cause);
  process.on('unhandledRejection', note);
  try {
    await action();
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('unhandledRejection', note);
  }
  return found;
}

export interface Bench {
  readonly at: TestChain;
  readonly pool: Pool;
  readonly records: Uint8Array[];
}

export interface Parts {
  readonly scheme?: ChainScheme;
  readonly state?: (state: PoolChain) => PoolChain;
  readonly verifier?: Verifier;
  readonly charge?: Charge;
  readonly recovered?: readonly Uint8Array[];
}

export async function bench(parts: Parts = {}): Promise<Bench> {
  const at = await newChain(createMemoryStore());
  const records: Uint8Array[] = [];
  const trial = new Trial(at.blockchain, rules, at.clock);
  const pool = createPool(
    {
      bytesMax: 1_000_000,
      senderEntriesMax: 100,
      expireMs: 7_200_000,
      cleanupMs: 3_600_000,
      nativeToken: 'WEST',
    },
    {
      scheme: parts.scheme ?? scheme,
      state: parts.state?.(trial) ?? trial,
      verifier: parts.verifier ?? verifier,
      journal: {
        recovered: parts.recovered ?? [],
        async append(record) {
          parts.charge?.pass();
          records.push(record);
        },
        async rewrite(next) {
          records.splice(0, records.length, ...next);
        },
        close: async () => {},
      },
      clock: at.clock,
      log: quiet,
    },
  );
  return { at, pool, records };
}
