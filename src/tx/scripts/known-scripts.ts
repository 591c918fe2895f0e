/** The decoded scripts of a chain; they are read once and run often. */
import { apiError } from '../../base/errors.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { createScripts, type Scripts } from '../../script/script.ts';
import { ScriptError } from '../../script/tree.ts';

const known = new WeakMap<ChainScheme, Scripts>();

/** A cache for each chain, since the checksum depends on its cryptography. */
export function scriptsOf(scheme: ChainScheme): Scripts {
  let scripts = known.get(scheme);
  if (scripts === undefined) {
    scripts = createScripts(scheme.secureHash);
    known.set(scheme, scripts);
  }
  return scripts;
}

/** Throws ApiError where the field of a transaction holds anything but a script. */
export function guardScript(bytes: Uint8Array | undefined, scheme: ChainScheme): void {
  if (bytes === undefined) return;
  try {
    scriptsOf(scheme).read(bytes);
  } catch (cause) {
    if (cause instanceof ScriptError) throw apiError('Invalid', cause.message);
    throw cause;
  }
}
