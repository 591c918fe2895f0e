/** The thread that matches patterns of clients (adapters/threads/pattern-thread.ts). */
import { parentPort } from 'node:worker_threads';
import type { PatternAnswer, PatternQuestion } from '../../adapters/threads/pattern-thread.ts';
import { giveWay } from '../../adapters/threads/priorities.ts';
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
