/**
 * What has been found out so far, in a file, so that a run which is interrupted goes on where it
 * was, and a run after a change looks only at what the change concerns.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hashOf, ROOT } from './copies.ts';
import { type Guard, nameOf } from './guards.ts';

const FILE = join(ROOT, '.mutations/results.json');

/** A run of a test file with all guards. */
interface Measured {
  /** Of the test file. */
  readonly hash: string;
  readonly seconds: number;
  /** Names of the guards that acted. */
  readonly acted: readonly string[];
  /** Sources whose guards were known then, with their hashes. */
  readonly sources: Readonly<Record<string, string>>;
}

interface MutationResult {
  /** Of the source with the guard. */
  readonly source: string;
  /** Hashes of the test files that did not notice. */
  readonly unnoticed: Record<string, string>;
  killer?: { readonly file: string; readonly hash: string; readonly test: string };
}

interface Kept {
  readonly measured: Record<string, Measured>;
  readonly verdicts: Record<string, MutationResult>;
}

export interface Killer {
  readonly file: string;
  readonly test: string;
}

export class Results {
  private readonly kept: Kept;
  private readonly hashes = new Map<string, string>();

  constructor(isFresh: boolean) {
    const isThere = existsSync(FILE) && !isFresh;
    this.kept = isThere
      ? (JSON.parse(readFileSync(FILE, 'utf8')) as Kept)
      : { measured: {}, verdicts: {} };
  }

  isMeasured(file: string): boolean {
    return this.kept.measured[file]?.hash === this.hash(file);
  }

  /** Sources with guards that were none when the file was measured. */
  sourcesSince(file: string, all: readonly Guard[]): readonly string[] {
    const known = this.kept.measured[file]?.sources;
    if (known === undefined) return [];
    return [...new Set(all.map((guard) => guard.file))].filter((source) => !(source in known));
  }

  measured(file: string, seconds: number, acted: readonly Guard[], all: readonly Guard[]): void {
    this.kept.measured[file] = {
      hash: this.hash(file),
      seconds,
      acted: acted.map(nameOf),
      sources: Object.fromEntries(all.map((guard) => [guard.file, this.hash(guard.file)])),
    };
    this.save();
  }

  seconds(file: string): number {
    return this.kept.measured[file]?.seconds ?? 0;
  }

  /** Where the guard acts, the shortest first. */
  files(guard: Guard): readonly string[] {
    const name = nameOf(guard);
    return Object.entries(this.kept.measured)
      .filter(([file, { acted, sources }]) => {
        if (acted.includes(name)) return this.isMeasured(file);
        // The guard may be newer than the measurement.
        const isChanged = sources[guard.file] !== this.hash(guard.file);
        return isChanged && acted.some((other) => other.startsWith(`${guard.file} `));
      })
      .map(([file]) => file)
      .sort((a, b) => this.seconds(a) - this.seconds(b));
  }

  killer(guard: Guard): Killer | undefined {
    const { killer, source } = this.kept.verdicts[nameOf(guard)] ?? {};
    const isValid =
      killer !== undefined &&
      source === this.hash(guard.file) &&
      killer.hash === this.hash(killer.file);
    return isValid ? killer : undefined;
  }

  /** The test that noticed last, whatever has changed since. */
  lastKiller(guard: Guard): Killer | undefined {
    return this.kept.verdicts[nameOf(guard)]?.killer;
  }

  /**
   * Test files that have not been tried without the guard; the one that noticed last is first.
   * `named`: that one alone.
   */
  untried(guard: Guard, named?: string): readonly string[] {
    const { unnoticed, killer } = this.verdict(guard);
    const files = this.files(guard).filter((file) => unnoticed[file] !== this.hash(file));
    if (named !== undefined) return files.filter((file) => file === named);
    const [last] = files.filter((file) => file === killer?.file);
    return last === undefined ? files : [last, ...files.filter((file) => file !== last)];
  }

  /** `test` is the one that failed; undefined where all passed. */
  tried(guard: Guard, file: string, test: string | undefined): void {
    const verdict = this.verdict(guard);
    if (test === undefined) verdict.unnoticed[file] = this.hash(file);
    else verdict.killer = { file, hash: this.hash(file), test };
    this.kept.verdicts[nameOf(guard)] = verdict;
    this.save();
  }

  private verdict(guard: Guard): MutationResult {
    const source = this.hash(guard.file);
    const known = this.kept.verdicts[nameOf(guard)];
    if (known?.source === source) return known;
    return { source, unnoticed: {}, ...(known?.killer && { killer: known.killer }) };
  }

  private hash(file: string): string {
    const known = this.hashes.get(file) ?? (existsSync(join(ROOT, file)) ? hashOf(file) : '');
    this.hashes.set(file, known);
    return known;
  }

  private save(): void {
    mkdirSync(dirname(FILE), { recursive: true });
    writeFileSync(`${FILE}.new`, JSON.stringify(this.kept, undefined, 1));
    renameSync(`${FILE}.new`, FILE);
  }
}
