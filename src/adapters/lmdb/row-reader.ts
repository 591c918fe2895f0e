/**
 * Reads rows through a transaction. Each row is checked against its checksum, and results are
 * copies, since the binding's fast getter reuses its buffer.
 */
import { StoreCorruptError } from '../../base/faults/store-damage.ts';
import type { StoreView } from '../../base/ports/store.ts';
import type { Environment, Within } from './environment.ts';
import { unseal } from './sums.ts';

/** `within`: the transaction for the reads. `noted`: makes the error to throw. */
export function rowReader(
  { tableOf }: Pick<Environment, 'tableOf'>,
  folder: string,
  within: () => Within,
  noted: (error: unknown) => unknown,
): StoreView {
  function rowValue(id: number, key: Uint8Array, sealed: Uint8Array): Uint8Array {
    const value = unseal(id, key, sealed, sealed.length);
    if (value !== undefined) return ownCopy(value);
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
          yield [ownCopy(plain(key)), rowValue(id, key, value)];
        }
      } catch (error) {
        throw noted(error);
      }
    },
  };
}

/** V8 keeps shorter arrays on its heap; longer ones cost an allocation of a microsecond each. */
const SMALL_BYTES = 64;
const SHARED_BYTES_MAX = 1024;
const SLAB_BYTES = 32 * 1024;
let slab = new Uint8Array(0);
let used = 0;

/** The real bytes of a key, whose `length` the binding may have overridden. */
const plain = (key: Uint8Array): Uint8Array =>
  new Uint8Array(key.buffer, key.byteOffset, key.length);

/** Copies of rows of usual length share buffers. No copy is a Buffer, whose `slice` is a view. */
function ownCopy(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  const copy =
    length <= SMALL_BYTES || length > SHARED_BYTES_MAX ? new Uint8Array(length) : room(length);
  copy.set(bytes);
  return copy;
}

function room(length: number): Uint8Array {
  if (used + length > slab.length) {
    slab = new Uint8Array(SLAB_BYTES);
    used = 0;
  }
  used += length;
  return slab.subarray(used - length, used);
}
