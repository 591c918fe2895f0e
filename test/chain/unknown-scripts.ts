/** How much the reading of scripts takes that a node does not know, in steps of the estimate. */
import { Steps } from '../../src/script/steps.ts';
import { scriptsOf } from '../../src/tx/scripts/known-scripts.ts';
import { binaryOf } from '../generators/dear-scripts.ts';
import { scheme } from './chain-harness.ts';

/** More than the node keeps decoded. */
const OTHERS = 200;

export function forgetScripts(): void {
  for (let i = 0; i < OTHERS; i++) {
    scriptsOf(scheme).read(binaryOf({ op: 'string', value: `script ${i}` }));
  }
}

/** The steps of all estimates while `act` runs, which knows none of the scripts. */
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
