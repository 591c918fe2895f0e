/** The decoded scripts of a chain; they are read once and run often. */
import { apiError } from '../../base/errors.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { readingUnits } from '../../script/evaluation/charges.ts';
import { ScriptError } from '../../script/language/tree.ts';
import { createScripts, type Script, type Scripts } from '../../script/script.ts';
import type { Tx } from '../transaction.ts';

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

/**
 * Throws ApiError where a transaction would put anything but a script into the state. Those of members
 * are many: the pipeline reads them, behind the signatures and under a budget.
 */
export function guardNewScript(tx: Tx, scheme: ChainScheme): void {
  if (tx.def.members !== undefined) return;
  for (const bytes of newScriptsOf(tx)) readNewScript(bytes, scheme);
}

const NONE: readonly Uint8Array[] = [];

/** The scripts that a transaction and its members put into the state. */
export function newScriptsOf(tx: Tx): readonly Uint8Array[] {
  const own = tx.def.newScript?.(tx);
  const members = tx.def.members?.(tx);
  if (members !== undefined) return members.flatMap(newScriptsOf);
  return own === undefined ? NONE : [own];
}

/** Returns the units of the reading, the same whether it was known or not. Throws ApiError. */
export function readNewScript(bytes: Uint8Array, scheme: ChainScheme): number {
  const script = orRefused(() => scriptsOf(scheme).read(bytes));
  return readingUnits(script, scheme.charges);
}

/** The script without the estimate of its complexity. Throws ApiError. */
export const decodedScript = (bytes: Uint8Array, scheme: ChainScheme): Script =>
  orRefused(() => scriptsOf(scheme).stored(bytes));

function orRefused(read: () => Script): Script {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof ScriptError) throw apiError('Invalid', cause.message);
    throw cause;
  }
}
