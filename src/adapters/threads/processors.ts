/**
 * Which processors a thread may use. Node has no call for it, so `taskset` of util-linux sets it;
 * where that is missing, or forbidden, the kernel places the thread, as it does by default.
 */
import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';

const ONLINE = '/sys/devices/system/cpu/online';
const CALL_MS = 5_000;

/** A thread of a pool, of which there are `threads`. */
export interface Place {
  readonly index: number;
  readonly threads: number;
}

/**
 * Keeps the calling thread on a processor of its own where there are as many processors as threads
 * of its kind: the kernel often lets two of them share one, while the other runs threads that give
 * way. With more processors it finds a free one by itself.
 */
export function keepToOwnProcessor({ index, threads }: Place): Promise<void> {
  return asFarAsPossible(async () => {
    const online = listed(readFileSync(ONLINE, 'latin1').trim());
    const processors = listed(allowed('self')).filter((one) => online.includes(one));
    if (threads > 1 && threads === processors.length) await allow(String(processors[index]));
  });
}

/** For a thread that another one has started, and which may have inherited its processor. */
export function useAllProcessors(): Promise<void> {
  return asFarAsPossible(async () => {
    const all = allowed('self');
    if (all !== allowed('thread-self')) await allow(all);
  });
}

async function asFarAsPossible(act: () => Promise<void>): Promise<void> {
  if (process.platform !== 'linux') return;
  try {
    await act();
  } catch {
    // A sandbox hides the files, forbids the call, or has no program.
  }
}

/** Such as `0-2,6`. */
function allowed(task: 'self' | 'thread-self'): string {
  const status = readFileSync(`/proc/${task}/status`, 'latin1');
  return /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '';
}

function listed(text: string): number[] {
  return text.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

async function allow(processors: string): Promise<void> {
  const thread = basename(readlinkSync('/proc/thread-self'));
  const env = { PATH: '/usr/bin:/bin' };
  await promisify(execFile)('taskset', ['-pc', processors, thread], { env, timeout: CALL_MS });
}
