/** The thread that matches patterns of clients (adapters/pattern-thread.ts). */
import { parentPort } from 'node:worker_threads';
import { giveWay } from '../../adapters/background-thread.ts';
import type { PatternAnswer, PatternQuestion } from '../../adapters/pattern-thread.ts';
import { ApiError } from '../../base/errors.ts';
import { patternsHere } from '../../rest/key-filter.ts';

giveWay('background');
// Loads the engine, which the first pattern would pay for.
await patternsHere.match('', [], '');
parentPort?.on('message', async ({ pattern, keys }: PatternQuestion) => {
  let answer: PatternAnswer;
  try {
    answer = await patternsHere.match(pattern, keys, '');
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
  }
  parentPort?.postMessage(answer);
});
parentPort?.postMessage('ready');
