/** A small state for scripts, in any store, and runs of trees that sources may not compile to. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import type { Store } from '../../src/base/ports/store.ts';
import { candidateUnder } from '../../src/chain/store/stored-blocks.ts';
import { Writer } from '../../src/codec/codec.ts';
import { createCommittedView } from '../../src/ledger/committed-view.ts';
import type { Table } from '../../src/ledger/table.ts';
import { aliases, data, tables, transactionIds, transactions } from '../../src/ledger/tables.ts';
import type { Environment } from '../../src/script/evaluation/environment.ts';
import { Meter, RUN_UNITS_MAX } from '../../src/script/evaluation/meter.ts';
import { type Outcome, programOf } from '../../src/script/evaluation/program.ts';
import type { Header, Tree } from '../../src/script/language/tree.ts';
import { EvaluationFailure, type Value } from '../../src/script/language/values.ts';
import { recordOf } from '../../src/tx/scripts/records.ts';
import { environmentOf } from '../../src/tx/scripts/script-environment.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { buildTx } from '../../src/tx/tx-bytes.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { massTransfer } from '../../src/tx/types/011-mass-transfer.ts';
import { data as dataType } from '../../src/tx/types/012-data.ts';
import { addresses, publicKeys, scheme } from '../generators/network.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';

export const TRUE: Tree = { op: 'bool', value: true };
export const text = (value: string): Tree => ({ op: 'string', value });
export const bytes = (value: Uint8Array): Tree => ({ op: 'bytes', value });
export const zeros = (size: number): Tree => bytes(new Uint8Array(size));
export const long = (value: number | bigint): Tree => ({ op: 'long', value: BigInt(value) });
export const name = (of: string): Tree => ({ op: 'ref', name: of });
export const call = (header: Header, ...args: readonly Tree[]): Tree => ({
  op: 'call',
  header,
  args,
});
export const field = (of: Tree, called: string): Tree => ({ op: 'getter', of, field: called });
export const block = (called: string, value: Tree, body: Tree): Tree => ({
  op: 'block',
  name: called,
  value,
  body,
});
export const choice = (test: Tree, yes: Tree, no: Tree): Tree => ({ op: 'if', test, yes, no });

const [alice] = addresses as [Uint8Array];
const [key] = publicKeys as [Uint8Array];

export { alice };

const NONE = new Uint8Array(0);

const made = (def: unknown, layout: number, fields: object): Tx => {
  const type = def as typeof transfer;
  const values = { senderPublicKey: key, timestamp: 1, fee: 1n, attachment: NONE, ...fields };
  const proofs = [new Uint8Array(64)];
  return buildTx(type, type.layouts[layout]!, values as never, proofs, scheme) as unknown as Tx;
};

const to = (i: number) => ({ kind: 'address' as const, bytes: addresses[i]! });

/** What scripts of this world judge. */
export const small = made(transfer, 1, { amount: 1n, recipient: to(1) });
export const wide = made(massTransfer, 0, {
  transfers: addresses.slice(0, 40).map((_, i) => ({ recipient: to(i), amount: 1n })),
});
export const big = made(dataType, 0, {
  authorPublicKey: key,
  data: Array.from({ length: 100 }, (_, i) => ({
    key: `key ${i}`,
    type: 'string' as const,
    value: '€'.repeat(400),
  })),
});

/** Fills the store and gives what a run sees of it. */
export async function worldIn(store: Store): Promise<Environment> {
  const row = <K, V>(table: Table<K, V>, at: K, value: V) => {
    const out = new Writer(scheme);
    table.value.write(out, value);
    return { table: table.id, key: table.key.encode(at), value: out.take() };
  };
  await store.write([
    row(aliases, 'alice', alice),
    row(data, [alice, 'text'], { type: 'string', value: '€'.repeat(1000) }),
    row(data, [alice, 'bytes'], { type: 'binary', value: new Uint8Array(6400) }),
    row(data, [alice, 'five'], { type: 'integer', value: 5n }),
    ...[small, wide, big].flatMap((tx, index) => [
      row(transactionIds, tx.id.slice(0, 16), { height: 5, index }),
      row(transactions, [5, index], tx.bytes),
    ]),
  ]);
  const view = createCommittedView(store, scheme);
  return environmentOf(
    { view, height: 100, find: (id) => candidateUnder(view, id) },
    'account',
    () => recordOf(small, scheme, 'account')!,
    (message, signature, by) => scheme.verify(by, message, signature),
  );
}

/** The same world in both stores. */
export async function worlds(t: { teardown(end: () => Promise<void>): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'script-world-'));
  const disk = await openLmdbStore({ folder, tables });
  t.teardown(async () => {
    await disk.close();
    rmSync(folder, { recursive: true });
  });
  return { memory: await worldIn(createMemoryStore()), lmdb: await worldIn(disk) };
}

export interface Ran extends Outcome {
  readonly used: number;
}

/** Without the charge of the bytes of a script. */
export function ran(tree: Tree, env: Environment, budget = RUN_UNITS_MAX): Ran {
  const meter = new Meter(budget);
  const outcome = programOf(tree, 2, 0).run(env, meter);
  return { ...outcome, used: meter.used };
}

/** A value in one text, the bytes as hex. */
export function shown(value: Value | EvaluationFailure): string {
  if (value instanceof EvaluationFailure) return `${value.name}: ${value.message}`;
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'bigint') return `${part}n`;
    if (part instanceof Uint8Array) return Buffer.from(part).toString('hex');
    return part instanceof Map ? [...part] : part;
  });
}
