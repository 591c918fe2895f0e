/** Every transaction type by number, and the decoder of all of them. */
import * as declarations from './all-types.ts';
import type { CompiledLayout } from './compiled-layout.ts';
import type { Decoder } from './decoder.ts';
import { createDecoder, createStoredDecoder, createUnreadDecoder, layoutTable } from './decoder.ts';
import type { TxType } from './transaction.ts';

// Each declaration has its own field types; the list drops them.
export const allTypes: readonly TxType[] = (
  Object.values(declarations) as readonly unknown[] as TxType[]
).sort((a, b) => a.type - b.type);

export const types: ReadonlyMap<number, TxType> = new Map(allTypes.map((def) => [def.type, def]));

/**
 * The type of a transaction, read from its bytes without decoding them; undefined where there is no
 * such type.
 */
export const defOfBytes = (bytes: Uint8Array): TxType | undefined =>
  types.get((bytes[0] === 0 ? bytes[1] : bytes[0]) ?? 0);

/** Bytes of any type → transaction; see decoder.ts. */
const layoutsFor = layoutTable(allTypes);
export const decodeTx: Decoder = createDecoder(layoutsFor);
/** Bytes of a block that is about to be applied → transaction. */
export const decodeUnreadTx: Decoder = createUnreadDecoder(layoutsFor);
/** Bytes of this chain → transaction. */
export const decodeStoredTx: Decoder = createStoredDecoder(layoutsFor);

/** Undefined where the first bytes fit several layouts. Throws CodecError where they fit none. */
export function layoutOfBytes(bytes: Uint8Array): CompiledLayout | undefined {
  const layouts = layoutsFor(bytes);
  return layouts.length === 1 ? layouts[0] : undefined;
}
