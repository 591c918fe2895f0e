/**
 * Preloaded into a node. SIGUSR2 makes one of its connection threads meet an error that no code
 * expects; SIGURG ends such a thread without warning, as the runtime does when its memory is full.
 */
import type { Worker } from 'node:worker_threads';

const threads: Worker[] = [];
process.on('worker', (worker) => {
  if (worker.threadName === 'http') threads.push(worker);
});
process.on('SIGUSR2', () => threads[0]?.postMessage({ kind: 'answers', done: 'not a list' }));
process.on('SIGURG', () => void threads[0]?.terminate());
