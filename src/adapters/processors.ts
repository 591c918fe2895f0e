/**
 * Which processors a thread may use. Node has no call for it, so `taskset` of util-linux sets it;
 * where that is missing, or forbidden, the kernel places the thread, as it does by default.
 */
import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

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
export async function keepToOwnProcessor({ index, threads }: Place): Promise<void> {
  const processors = listed(allowed('self'));
  if (threads > 1 && threads === processors.length) await allow(String(processors[index]));
}

/** For a thread that another one has started, and which may have inherited its processor. */
export async function useAllProcessors(): Promise<void> {
  const all = allowed('self');
  if (all !== allowed('thread-self')) await allow(all);
}

/** Such as `0-2,6`; the empty string elsewhere than on Linux. */
function allowed(task: 'self' | 'thread-self'): string {
  if (process.platform !== 'linux') return '';
  const status = readFileSync(`/proc/${task}/status`, 'latin1');
  return /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '';
}

function listed(text: string): number[] {
  if (text === '') return [];
  return text.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

function allow(processors: string): Promise<void> {
  const thread = basename(readlinkSync('/proc/thread-self'));
  return new Promise((resolve) => {
    const env = { PATH: '/usr/bin:/bin' };
    execFile('taskset', ['-pc', processors, thread], { env }, () => resolve());
  });
}
