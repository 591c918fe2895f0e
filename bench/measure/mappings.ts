/** The resident pages of a process by what they hold, from /proc/PID/smaps. */
import { readFileSync } from 'node:fs';

export interface Mappings {
  /** The file of the store. */
  readonly storeMb: number;
  /** Program and libraries. */
  readonly programMb: number;
  /** glibc's heap of the main thread. */
  readonly mainArenaMb: number;
  /** Its heaps of other threads. */
  readonly threadArenasMb: number;
  readonly stacksMb: number;
  /** All other memory that no file holds: V8's heaps, and large buffers. */
  readonly anonymousMb: number;
}

interface Region {
  readonly start: number;
  readonly end: number;
  readonly access: string;
  readonly path: string;
  readonly mb: number;
}

const KB_PER_MB = 1024;
/** glibc reserves the heap of a thread in pieces of this size, at multiples of it. */
const ARENA_BYTES = 64 * 1024 * 1024;

export function mappingsOf(pid: number): Mappings {
  const regions = regionsOf(readFileSync(`/proc/${pid}/smaps`, 'utf8'));
  const sums = { store: 0, program: 0, main: 0, arenas: 0, stacks: 0, anonymous: 0 };
  for (const [i, region] of regions.entries()) {
    sums[kindOf(region, regions[i + 1])] += region.mb;
  }
  return {
    storeMb: sums.store,
    programMb: sums.program,
    mainArenaMb: sums.main,
    threadArenasMb: sums.arenas,
    stacksMb: sums.stacks,
    anonymousMb: sums.anonymous,
  };
}

function kindOf(
  { start, end, access, path }: Region,
  next: Region | undefined,
): 'store' | 'program' | 'main' | 'arenas' | 'stacks' | 'anonymous' {
  if (path.endsWith('.mdb')) return 'store';
  if (path === '[heap]') return 'main';
  if (path === '[stack]') return 'stacks';
  if (path !== '') return 'program';
  const reserved = next?.start === end && next.access.startsWith('---') && next.path === '';
  const isArena = start % ARENA_BYTES === 0 && access === 'rw-p';
  const whole = reserved ? next.end - start : end - start;
  return isArena && whole % ARENA_BYTES === 0 ? 'arenas' : 'anonymous';
}

function regionsOf(text: string): Region[] {
  const regions: Region[] = [];
  let head: Omit<Region, 'mb'> | undefined;
  for (const line of text.split('\n')) {
    const found = /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)$/.exec(line);
    if (found !== null) {
      const [, start = '', end = '', access = '', path = ''] = found;
      head = { start: Number.parseInt(start, 16), end: Number.parseInt(end, 16), access, path };
    } else if (head !== undefined && line.startsWith('Rss:')) {
      regions.push({ ...head, mb: Number(/\d+/.exec(line)?.[0] ?? 0) / KB_PER_MB });
    }
  }
  return regions;
}
