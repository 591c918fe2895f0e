/**
 * Reads rows through a transaction. Each row is checked against its checksum, and results are
 * copies, since the binding's fast getter reuses its buffer.
 */
import type { StoreView } from '../../base/ports.ts';
import { StoreCorruptError } from '../../base/store-damage.ts';
import type { Environment, Within } from './environment.ts';
import { unseal } from './sums.ts';

/** `within`: the transaction for the reads. `noted`: makes the error to throw. */
export function rowReader(
  { tableOf }: Environment,
  folder: string,
  within: () => Within,
  noted: (error: unknown) => unknown,
): StoreView {
  function rowValue(id: number, key: Uint8Array, sealed: Uint8Array): Uint8Array {
    // The binding overrides `length` of its shared buffer, so the view uses the buffer below it.
    const view = new Uint8Array(sealed.buffer, sealed.byteOffset, sealed.length);
    const value = unseal(id, key, view);
    if (value !== undefined) return new Uint8Array(value);
    throw new StoreCorruptError(folder, `a row of table ${id} is not what was written`);
  }
  return {
    get: (id, key) => {
      const options = within();
      try {
        const table = tableOf(id);
        const found = table.getBinaryFast(key, options);
        return found === undefined ? undefined : rowValue(id, key, found);
      } catch (error) {
        throw noted(error);
      }
    },
    *range(id, from, to, limit, reverse = false) {
      if (limit <= 0) return;
      const bounds = reverse
        ? { start: to, exclusiveStart: true, end: from, inclusiveEnd: true, reverse }
        : { start: from, end: to };
      try {
        const table = tableOf(id);
        for (const { key, value } of table.getRange({ ...bounds, ...within(), limit })) {
          yield [ownCopy(key), rowValue(id, key, value)];
        }
      } catch (error) {
        throw noted(error);
      }
    },
  };
}

// Returns no Buffer, because its `slice` would be a view.
function ownCopy(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.length);
  copy.set(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
  return copy;
}
