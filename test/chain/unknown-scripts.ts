/** Scripts that a node does not know: what reading them takes, and one that is none. */
import { SIGNATURE_BYTES } from '../../src/base/sizes.ts';
import { Steps } from '../../src/script/language/steps.ts';
import { scriptsOf } from '../../src/tx/scripts/known-scripts.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { binaryOf } from '../generators/dear-scripts.ts';
import { type Account, scheme } from './chain-harness.ts';

/** More than the node keeps decoded. */
const OTHERS = 200;

export function forgetScripts(): void {
  for (let i = 0; i < OTHERS; i++) {
    scriptsOf(scheme).read(binaryOf({ op: 'string', value: `script ${i}` }));
  }
}

/** In steps of the estimate: those of all estimates while `act` runs, which knows none of the scripts. */
export async function stepsOf(act: () => unknown): Promise<number> {
  forgetScripts();
  const { take } = Steps.prototype;
  let steps = 0;
  Steps.prototype.take = function (this: Steps, count = 1) {
    steps += count;
    take.call(this, count);
  };
  try {
    await act();
  } finally {
    Steps.prototype.take = take;
  }
  return steps;
}

/** Signed, but with a script whose checksum is wrong; nothing builds it. */
export function spoilt(tx: Tx, by: Account): Tx {
  const bytes = tx.bytes.slice();
  const script = Buffer.from(bytes).indexOf(tx.def.newScript!(tx)!);
  bytes[script + 1]! ^= 1;
  const from = tx.body.byteOffset - tx.bytes.byteOffset;
  bytes.set(by.sign(bytes.subarray(from, from + tx.body.length)), bytes.length - SIGNATURE_BYTES);
  return { ...tx, bytes };
}
