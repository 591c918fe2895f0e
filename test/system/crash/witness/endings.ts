/** The ways in which the crash test ends a node, and what the node then leaves behind. */
import type { Exit, NodeOptions } from '../../../../bench/node/node-process.ts';
import { httpThreads, threadSettings } from '../../../http-threads.ts';

export interface Ending {
  readonly signal: NodeJS.Signals;
  /** One of these. */
  readonly exits: readonly Exit[];
  /** Stands in the log; absent where the runtime decides what stands there. */
  readonly says?: string;
}

const killed: Ending = { signal: 'SIGKILL', exits: [{ code: null, signal: 'SIGKILL' }] };

const aborted = (signal: NodeJS.Signals): Exit => ({ code: null, signal });

/** What may happen to a connection thread, and an orderly stop while requests wait in them. */
const withThreads: readonly Ending[] = [
  killed,
  {
    signal: 'SIGUSR2',
    exits: [{ code: 1, signal: null }],
    says: 'a thread of the REST interface died: TypeError',
  },
  // The runtime aborts the process where it ends a thread that has connections. What it prints
  // and by which signal it ends, depends on what the thread was doing.
  { signal: 'SIGURG', exits: [aborted('SIGABRT'), aborted('SIGSEGV')] },
  { signal: 'SIGTERM', exits: [{ code: 0, signal: null }], says: '"event":"node.stopped"' },
];

export const endings: readonly Ending[] = httpThreads === 0 ? [killed] : withThreads;

const faults = new URL('thread-faults.ts', import.meta.url).href;

/** Of a node that can end in these ways. */
export const endingOptions: NodeOptions =
  httpThreads === 0 ? {} : { set: threadSettings, execArgv: ['--import', faults] };
