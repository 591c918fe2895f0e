/**
 * The block that is being made, as one execution reads it: each row counts against the budget and
 * is remembered. After `close` nothing can be read any more.
 */
import { apiError } from '../../base/errors.ts';
import { asUntyped, decodeKeys, type KeyedView } from '../../ledger/committed-view.ts';
import { keyText } from '../../ledger/key-codecs.ts';
import type { Table } from '../../ledger/table.ts';
import { type ChangeLog, ReadSet } from './change-log.ts';
import { createReadBudget, type ReadLimits } from './read-budget.ts';

export interface ReadView {
  readonly view: KeyedView;
  /** Takes rows from the budget that are not looked for. */
  spend(rows: number): void;
  /** The row is read without the view, and within the budget. */
  note<K>(table: Table<K, unknown>, key: K): void;
  /** The same as for a row of the view. */
  spendOn(key: Uint8Array, value: Uint8Array): void;
  /** True where something that was read has changed since. */
  isStale(): boolean;
  close(): void;
}

export function createReadView(base: KeyedView, changes: ChangeLog, limits: ReadLimits): ReadView {
  const budget = createReadBudget(limits);
  const read = new ReadSet(changes, limits.ranges);
  let open = true;
  const requireOpen = (): void => {
    if (!open) throw apiError('ContractTokenInvalid');
  };

  function lookup<V>(
    table: Table<unknown, V>,
    key: Uint8Array,
    text: string | undefined,
  ): V | undefined {
    requireOpen();
    const name = text ?? keyText(key);
    const value = base.lookup(table, key, name);
    read.row(table.id, name);
    budget.spend(key, value);
    return value;
  }

  function* entries<V>(
    table: Table<unknown, V>,
    from: Uint8Array,
    to: Uint8Array,
    limit: number,
    reverse = false,
  ): Generator<readonly [Uint8Array, V]> {
    requireOpen();
    read.range(table.id, from, to);
    let isEmpty = true;
    for (const entry of base.entries(table, from, to, limit, reverse)) {
      requireOpen();
      isEmpty = false;
      budget.spend(entry[0], entry[1]);
      yield entry;
    }
    if (isEmpty) budget.spend(from, undefined);
  }

  return {
    view: {
      scheme: base.scheme,
      lookup,
      entries,
      get: (table, key) => lookup(asUntyped(table), table.key.encode(key), undefined),
      range: (table, from, to, limit, reverse) =>
        decodeKeys(table, entries(asUntyped(table), from, to, limit, reverse)),
    },
    spend: budget.spendRows,
    note: (table, key) => read.row(table.id, keyText(table.key.encode(key))),
    spendOn(key, value) {
      requireOpen();
      budget.spend(key, value);
    },
    isStale: () => read.isStale(),
    close: () => {
      open = false;
    },
  };
}
