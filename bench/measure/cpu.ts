/**
 * Processor time from /proc: of the whole machine, and of a process with all its descendants,
 * including descendants that have ended and were waited for. On a system without /proc everything
 * is 0.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TICKS_PER_SECOND = 100;

interface Ticks {
  readonly parent: number;
  readonly ticks: number;
}

export interface CpuReading {
  readonly at: number;
  /** Seconds in which any processor worked, for whomever. */
  readonly machine: number;
  /** Seconds of this process and its descendants. */
  readonly own: number;
}

export function readCpu(): CpuReading {
  return { at: performance.now(), machine: machineSeconds(), own: cpuSecondsOf(process.pid) };
}

/** The part of the machine that others used between two readings, 0 to 1. */
export function foreignShare(before: CpuReading, after: CpuReading): number {
  const seconds = (after.at - before.at) / 1000;
  const foreign = after.machine - before.machine - (after.own - before.own);
  return Math.max(0, foreign) / (seconds * availableParallelism());
}

/** The part of the machine that nobody used between two readings, 0 to 1. */
export function idleShare(before: CpuReading, after: CpuReading): number {
  const seconds = (after.at - before.at) / 1000;
  return Math.max(0, 1 - (after.machine - before.machine) / (seconds * availableParallelism()));
}

/** Seconds that a process and all its descendants have used. */
export function cpuSecondsOf(root: number): number {
  const all = processes();
  let sum = 0;
  for (const [pid, { ticks }] of all) if (descends(pid, root, all)) sum += ticks;
  return sum / TICKS_PER_SECOND;
}

function descends(pid: number, root: number, all: ReadonlyMap<number, Ticks>): boolean {
  for (let at: number | undefined = pid; at !== undefined; at = all.get(at)?.parent) {
    if (at === root) return true;
  }
  return false;
}

/** User, nice, system and what the hypervisor took; interrupts belong to nobody. */
function machineSeconds(): number {
  const line = read('/proc/stat').split('\n')[0] ?? '';
  const [, user, nice, system, , , , , steal] = line.split(/\s+/).map(Number);
  return ((user ?? 0) + (nice ?? 0) + (system ?? 0) + (steal ?? 0)) / TICKS_PER_SECOND;
}

function processes(): Map<number, Ticks> {
  const all = new Map<number, Ticks>();
  for (const name of list('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const text = read(`/proc/${name}/stat`);
    // The name of the program stands in parentheses and may hold anything.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user, system, waitedUser, waitedSystem] = fields.slice(11, 15);
    all.set(pid, {
      parent: fields[1] ?? 0,
      ticks: (user ?? 0) + (system ?? 0) + (waitedUser ?? 0) + (waitedSystem ?? 0),
    });
  }
  return all;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
