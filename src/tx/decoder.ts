/**
 * Bytes → transaction for a set of types (transactions.md#body-full-bytes-id, "Parser"). After a
 * first byte 0 come type and version; any other first byte is the type.
 */
import { apiError, Refusal } from '../base/errors.ts';
import { type ChainScheme, CodecError, Reader } from '../codec/codec.ts';
import { readFrame } from './assemble.ts';
import { type CompiledLayout, compiledLayoutOf } from './compiled-layout.ts';
import { guardNewScript } from './scripts/known-scripts.ts';
import { requireSize } from './size.ts';
import type { Tx, TxType } from './transaction.ts';

/**
 * Consumes all bytes; `id` is the id of exactly these bytes, where it was computed before. Throws
 * CodecError and nothing else.
 */
export type Decoder = (bytes: Uint8Array, scheme: ChainScheme, id?: Uint8Array) => Tx;

/** The layouts that the first bytes of a transaction may mean. Throws CodecError where none. */
export function layoutTable(
  defs: readonly TxType[],
): (bytes: Uint8Array) => readonly CompiledLayout[] {
  const tagged = new Map<number, CompiledLayout[]>();
  const bare = new Map<number, CompiledLayout[]>();
  for (const def of defs) {
    for (const layout of def.layouts) {
      const isTagged = layout.frame === 'proven' || layout.frame === 'provenZero';
      const table = isTagged ? tagged : bare;
      const key = isTagged ? def.type * 256 + layout.version : def.type;
      const layouts = table.get(key) ?? [];
      layouts.push(compiledLayoutOf(def, layout));
      table.set(key, layouts);
    }
  }

  return (bytes) => {
    const first = bytes[0];
    if (first === undefined) throw new CodecError('bytes', 'unexpected end of data');
    if (first !== 0) return bare.get(first) ?? unknown(first, bytes[1]);
    const [, type, version] = bytes;
    if (type === undefined || version === undefined) {
      throw new CodecError('bytes', 'unexpected end of data');
    }
    return tagged.get(type * 256 + version) ?? unknown(type, version);
  };
}

export const createDecoder = (layoutsFor: LayoutsFor): Decoder => decoderOf(layoutsFor, 'whole');

/**
 * The same for the bytes of a block, without the script that a transaction puts into the state. The
 * script is read when the block is applied: nobody reads one for a block that no miner has signed,
 * and the budget of a block for scripts depends on its height.
 */
export const createUnreadDecoder = (layoutsFor: LayoutsFor): Decoder =>
  decoderOf(layoutsFor, 'unread');

/**
 * The same for bytes that were decoded before they came into a block. The rules of the type are not
 * checked again. Where several layouts may be meant, they are, since they tell which one is.
 */
export const createStoredDecoder = (layoutsFor: LayoutsFor): Decoder =>
  decoderOf(layoutsFor, 'fields');

type LayoutsFor = (bytes: Uint8Array) => readonly CompiledLayout[];

/** How much is checked: all rules that need no state, all but new scripts, or those of fields. */
type Extent = 'whole' | 'unread' | 'fields';

const decoderOf =
  (layoutsFor: LayoutsFor, extent: Extent): Decoder =>
  (bytes, scheme, id) => {
    const layouts = layoutsFor(bytes);
    return layouts.length === 1
      ? decodeAs(layouts[0]!, bytes, scheme, id, extent)
      : decodeAny(layouts, bytes, scheme, extent === 'fields' ? 'unread' : extent);
  };

function decodeAs(
  compiled: CompiledLayout,
  bytes: Uint8Array,
  scheme: ChainScheme,
  id: Uint8Array | undefined,
  extent: Extent,
): Tx {
  try {
    requireSize(compiled.def, bytes.length);
    const src = new Reader(bytes, scheme);
    const tx = readFrame(src, compiled, id);
    src.finish();
    if (extent !== 'fields') compiled.def.check?.(tx, scheme);
    if (extent === 'whole') guardNewScript(tx, scheme);
    return tx;
  } catch (cause) {
    if (cause instanceof Refusal) throw new CodecError('bytes', cause.message, cause);
    throw cause;
  }
}

/** Exactly one of several layouts must fit all the bytes. */
function decodeAny(
  layouts: readonly CompiledLayout[],
  bytes: Uint8Array,
  scheme: ChainScheme,
  extent: Extent,
): Tx {
  const fits: Tx[] = [];
  let failure: unknown;
  for (const compiled of layouts) {
    try {
      fits.push(decodeAs(compiled, bytes, scheme, undefined, extent));
    } catch (cause) {
      if (!(cause instanceof CodecError)) throw cause;
      failure ??= cause;
    }
  }
  if (fits.length === 0) throw failure;
  if (fits.length > 1) throw new CodecError('bytes', 'the bytes fit more than one layout');
  return fits[0]!;
}

function unknown(type: number, version = 0): never {
  const api = badType(type, version);
  throw new CodecError('bytes', api.message, api);
}

export function badType(type: number | bigint, version: number | bigint): Refusal {
  return apiError('BadTransactionType', type, version);
}
