/**
 * Random blocks of valid and invalid transactions: whatever they hold, the invariants stay, a
 * refused transaction leaves no trace (both checked by the harness), and taking blocks back gives
 * the bytes that were there before.
 */
import fc from 'fast-check';
import t from 'tap';
import { ApiError } from '../../../src/base/errors.ts';
import { I64_MAX } from '../../../src/base/int.ts';
import type { TxType } from '../../../src/tx/transaction.ts';
import { issue } from '../../../src/tx/types/003-issue.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { reissue } from '../../../src/tx/types/005-reissue.ts';
import { burn } from '../../../src/tx/types/006-burn.ts';
import { lease } from '../../../src/tx/types/008-lease.ts';
import { leaseCancel } from '../../../src/tx/types/009-lease-cancel.ts';
import { createAlias } from '../../../src/tx/types/010-create-alias.ts';
import { massTransfer } from '../../../src/tx/types/011-mass-transfer.ts';
import { data } from '../../../src/tx/types/012-data.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { registerNode } from '../../../src/tx/types/111-register-node.ts';
import { type Actor, actor, createHarness, type Harness, toAlias, WEST } from './ledger-harness.ts';

const actors = Array.from({ length: 4 }, (_, i) => actor(i + 1));
const RUNS = 60;

interface Step {
  readonly kind: number;
  readonly from: number;
  readonly to: number;
  readonly amount: bigint;
  /** Which of the assets and leases so far. */
  readonly which: number;
  readonly flag: boolean;
}

const amount = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt(0n, 5n * WEST) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, I64_MAX, I64_MAX - WEST) },
);

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.nat(11),
  from: fc.nat(3),
  to: fc.nat(3),
  amount,
  which: fc.nat(4),
  flag: fc.boolean(),
});

const blocks = fc.array(fc.array(step, { minLength: 5, maxLength: 25 }), {
  minLength: 1,
  maxLength: 5,
});

function network(feature2: boolean): Promise<Harness> {
  const features = [3, 4, 5, 6, 7, 9, 10, ...(feature2 ? [2] : [])];
  return createHarness({
    balances: actors.map((of, i) => [of, BigInt(i) * 100n * WEST] as const),
    participants: [
      [actors[3]!, ['miner', 'permissioner', 'connection_manager', 'issuer']],
      [actors[2]!, ['issuer']],
    ],
    rules: { preActivatedFeatures: new Map(features.map((id) => [id, 0])) },
  });
}

const ROLES = ['miner', 'issuer', 'permissioner', 'banned'] as const;

/** An id that exists if any does, mostly. */
const oneOf = (ids: readonly Uint8Array[], which: number): Uint8Array =>
  (which < 4 ? ids[which % Math.max(1, ids.length)] : undefined) ?? new Uint8Array(32).fill(7);

/** Applies what the step says, or finds it refused.*/
function run(h: Harness, s: Step, index: number, assets: Uint8Array[], leases: Uint8Array[]): void {
  const from = actors[s.from]!;
  const to = actors[s.to]!;
  const recipient = s.flag ? to.to : toAlias(`name${s.to}`);
  const assetId = oneOf(assets, s.which);
  const rest = { timestamp: h.now + index, ...(s.flag ? { fee: 2n * WEST } : {}) };
  const attempt = (def: TxType, input: object): Uint8Array | undefined => {
    try {
      const tx = h.make(def, from, { ...rest, ...input });
      return accepted(h, () => h.apply(tx)) ? tx.id : undefined;
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  };
  const as = (def: unknown): TxType => def as TxType;
  const kinds: readonly (() => void)[] = [
    () => attempt(as(transfer), { recipient, amount: s.amount }),
    () => attempt(as(transfer), { recipient, amount: s.amount, assetId }),
    () => {
      const gold = { name: 'Gold', description: '', quantity: s.amount, decimals: 0 };
      const id = attempt(as(issue), { ...gold, reissuable: s.flag });
      if (id !== undefined) assets.push(id);
    },
    () => attempt(as(reissue), { assetId, quantity: s.amount, reissuable: s.flag }),
    () => attempt(as(burn), { assetId, amount: s.amount }),
    () => {
      const id = attempt(as(lease), { recipient, amount: s.amount });
      if (id !== undefined) leases.push(id);
    },
    () => attempt(as(leaseCancel), { leaseId: oneOf(leases, s.which) }),
    () => attempt(as(createAlias), { alias: `name${s.from}` }),
    () => {
      const transfers = actors.map((of) => ({ recipient: of.to, amount: s.amount / 3n }));
      attempt(as(massTransfer), { transfers, fee: WEST, ...(s.flag ? { assetId } : {}) });
    },
    () => {
      const entry = { key: `k${s.which}`, type: 'integer', value: s.amount };
      attempt(as(data), { authorPublicKey: from.publicKey, data: [entry] });
    },
    () => {
      const opType = s.flag ? 'add' : 'remove';
      attempt(as(permit), { target: to.to, opType, role: ROLES[s.which % 4] });
    },
    () => {
      const opType = s.flag ? 'add' : 'remove';
      attempt(as(registerNode), { targetPubKey: to.publicKey, nodeName: 'node', opType });
    },
  ];
  kinds[s.kind]?.();
}

/** True if it was applied; the overlay must be as before otherwise. */
function accepted(h: Harness, apply: () => void): boolean {
  const before = rowsOf(h);
  try {
    apply();
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const after = rowsOf(h);
    if (before !== after) throw new Error('a refused transaction left a trace');
    return false;
  }
}

const rowsOf = (h: Harness): string =>
  [...h.draft.changes()]
    .map(({ table, text, after }) => `${table.id} ${text} ${show(after)}`)
    .join('\n');

const show = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}` : part)) ?? '';

t.test('random blocks keep the invariants and can be taken back', async () => {
  const generators: readonly Actor[] = actors;
  await fc.assert(
    fc.asyncProperty(blocks, fc.boolean(), async (chain, feature2) => {
      const h = await network(feature2);
      const assets: Uint8Array[] = [];
      const leases: Uint8Array[] = [];
      const start = h.dump();
      for (const [i, steps] of chain.entries()) {
        steps.forEach((s, index) => {
          run(h, s, index, assets, leases);
        });
        await h.mine(generators[i % 4]);
      }
      await h.rollback(chain.length);
      const end = h.dump();
      if (start.join('\n') !== end.join('\n')) throw new Error('a rollback left a trace');
    }),
    { numRuns: RUNS },
  );
});
