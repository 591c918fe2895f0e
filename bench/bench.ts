/**
 * What every row of the benchmark receives: options, load, folders, and the programs to compare
 * with.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Anvil } from './denominators/anvil.ts';
import type { Postgres } from './denominators/postgres.ts';
import { type HttpLoad, startHttpLoad } from './load/http.ts';
import { type Contender, NotInstalledError } from './measure/contender.ts';
import { interleave, type Rounds } from './measure/rounds.ts';
import { FROM_SOURCES } from './node/node-process.ts';

export interface BenchOptions {
  /** Two short rounds and small chains: shows that everything works, proves nothing. */
  readonly quick: boolean;
  /** Counts what was measured while others kept the machine busy. */
  readonly evenBusy: boolean;
  /** Where the nodes that are measured leave their CPU profiles, which slow them by a few percent. */
  readonly profile?: string | undefined;
  /** A folder of chains that stays (kept-chains.ts); by default they are made for this run. */
  readonly chains?: string | undefined;
  /** Transfers in the chains of row `growth`. */
  readonly sizes: readonly number[];
}

export interface Bench extends BenchOptions {
  readonly chains: string;
  readonly load: HttpLoad;
  /** Flags of Node for the node that a row measures. */
  readonly nodeFlags: readonly string[];
  /** An empty folder that is removed at the end. */
  folder(name: string): string;
  say(text: string): void;
  /** Runs `job` and says in `notes` why a denominator is missing. */
  optional<T>(notes: string[], start: () => Promise<T>): Promise<T | undefined>;
  /** Warms up, then measures in rounds; says in `notes` what was dropped. */
  measure(
    contenders: readonly (Contender | undefined)[],
    notes: string[],
    size?: Partial<RoundSize>,
  ): Promise<Rounds>;
  /** Calls `job` at the end, the last one first. */
  atEnd(job: () => unknown): void;
  close(): Promise<void>;
}

interface RoundSize {
  readonly rounds: number;
  /** Of one run. */
  readonly ms: number;
  /** False where every run is a new process anyway. */
  readonly warmUp: boolean;
  /** True where others work for the row, as the engine of containers does, so that none is dropped. */
  readonly countsOthers: boolean;
}

/** Longer runs need no longer warm-up. */
const WARM_UP_MS_MAX = 3000;
const FULL: RoundSize = { rounds: 5, ms: 3000, warmUp: true, countsOthers: false };
const QUICK: RoundSize = { ...FULL, rounds: 2, ms: 1500 };

export function createBench(options: BenchOptions): Bench {
  const { quick, evenBusy, profile } = options;
  const load = startHttpLoad();
  const root = mkdtempSync(join(tmpdir(), 'bench-'));
  const jobs: (() => unknown)[] = [() => rmSync(root, { recursive: true }), () => load.stop()];
  let folders = 0;
  const say = (text: string): void => {
    process.stderr.write(`${text}\n`);
  };

  return {
    ...options,
    chains: options.chains ?? join(root, 'chains'),
    load,
    nodeFlags:
      profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`, FROM_SOURCES],
    say,
    folder: (name) => join(root, `${name}-${folders++}`),
    async optional(notes, start) {
      try {
        return await start();
      } catch (error) {
        if (!(error instanceof NotInstalledError)) throw error;
        notes.push(error.message);
        return undefined;
      }
    },
    async measure(contenders, notes, own = {}) {
      const present = contenders.filter((contender) => contender !== undefined);
      const size = { ...(quick ? QUICK : FULL), ...own };
      for (const contender of size.warmUp ? present : []) {
        say(`  ${contender.name}: warming up`);
        await contender.run(Math.min(size.ms, WARM_UP_MS_MAX));
      }
      say(`  measuring ${present.map(({ name }) => name).join(', ')}`);
      const rounds = await interleave(present, {
        ...size,
        evenBusy: evenBusy || size.countsOthers,
      });
      if (rounds.dropped > 0) {
        notes.push(`${rounds.dropped} runs were dropped because the machine was busy`);
      }
      if (evenBusy) notes.push('runs on a busy machine were counted (--even-busy)');
      return rounds;
    },
    atEnd: (job) => jobs.push(job),
    async close() {
      for (const job of jobs.reverse()) await job();
    },
  };
}

/** Anvil for one row; undefined, and a note, where it is not installed. */
export async function anvilFor(bench: Bench, notes: string[]): Promise<Anvil | undefined> {
  const { startAnvil } = await import('./denominators/anvil.ts');
  return bench.optional(notes, () => startAnvil(bench.load));
}

export async function postgresFor(bench: Bench, notes: string[]): Promise<Postgres | undefined> {
  const { startPostgres } = await import('./denominators/postgres.ts');
  return bench.optional(notes, startPostgres);
}
