/** A thread as cli/workers/pattern-worker.ts that keeps as many megabytes as the pattern says. */
import { parentPort } from 'node:worker_threads';

const MB = 1024 * 1024;

parentPort?.on('message', ({ pattern }: { readonly pattern: string }) => {
  const kept: number[][] = [];
  for (let i = 0; i < Number(pattern); i++)
    kept.push(Array.from({ length: MB / 8 }, () => i + 0.5));
  parentPort?.postMessage({ verdicts: [kept.length === Number(pattern)], size: 1 });
});
parentPort?.postMessage('ready');
