/** Parameters of a statement in the making. Every value of a client becomes one of them. */
import type { SqlValue } from '../../base/ports/database.ts';

export interface SqlValues {
  readonly list: SqlValue[];
  /** Adds a value and gives its place, `$1`; with a type, `$1::bigint`. */
  add(value: SqlValue, type?: string): string;
}

export function sqlValues(): SqlValues {
  const list: SqlValue[] = [];
  return {
    list,
    add(value, type) {
      list.push(value);
      return `$${list.length}${type === undefined ? '' : `::${type}`}`;
    },
  };
}

/** The text as a part of a LIKE pattern. */
export const literally = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** The first text, in the order of bytes, that does not begin with `prefix`. */
export const afterPrefix = (prefix: string): string => `${prefix}\u{10FFFF}`;

/** A condition that an index in the order of bytes serves. */
export const startsWith = (column: string, prefix: string, values: SqlValues): string =>
  `${column} >= ${values.add(prefix)} AND ${column} < ${values.add(afterPrefix(prefix))}`;
