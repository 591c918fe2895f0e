/**
 * The port `Containers` without an engine: contracts are functions, found by the name of their
 * image, and their containers start and answer after times that the test gives. Nothing happens but
 * what the clock, the programs and the calls of the test make happen.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../src/base/ports/clock.ts';
import type {
  Containers,
  ContractExecution,
  ContractFailure,
  ContractImage,
  ContractOutcome,
  DataEntry,
} from '../../src/base/ports/containers.ts';

/** One call. What it throws or rejects with is an error of the engine. */
export type Program = (
  execution: ContractExecution,
  wait: (ms: number) => Promise<void>,
) => ContractOutcome | Promise<ContractOutcome>;

export interface SimulatedContainers extends Containers {
  /** Runs under way. */
  readonly running: number;
  /** The most runs that were under way at once. */
  readonly mostRunning: number;
  /** Containers that a run has made unfit. */
  readonly replaced: number;
  /** Containers that exist. */
  readonly containers: number;
  /** For whom the image was asked for. */
  creatorsOf(image: string): readonly string[];
  /** The engine goes away with all its containers, or comes back. */
  setProblem(problem: string | undefined): void;
}

export interface SimulatedContainersOptions {
  readonly clock: Pick<Clock, 'after' | 'monotonic'>;
  /** By image; a function where an engine has every image that it is asked for. */
  readonly programs: Readonly<Record<string, Program>> | (() => Program);
  readonly startMs: number;
  readonly timeoutMs: number;
  /** Time of every call besides what its program waits. */
  readonly callMs: () => number;
  /** Image → its hash; left out: `hashOfImage`. */
  readonly hashOf?: (image: string) => string;
}

/** The hash that the image of this name has. */
export const hashOfImage = (image: string): string =>
  createHash('sha256').update(image).digest('hex');

const failure = (message: string, recoverable: boolean, system = true): ContractFailure => ({
  kind: 'failure',
  message,
  recoverable,
  system,
});

export const success = (...results: readonly DataEntry[]): ContractOutcome => ({
  kind: 'success',
  results,
});

export const integer = (key: string, value: bigint): DataEntry => ({ key, type: 'integer', value });

export function simulatedContainers(options: SimulatedContainersOptions): SimulatedContainers {
  const { clock, programs, startMs, timeoutMs, callMs, hashOf = hashOfImage } = options;
  /** Image → when its container is ready. */
  const ready = new Map<string, number>();
  const runs = new Set<() => void>();
  const creators = new Map<string, Set<string>>();
  let mostRunning = 0;
  let replaced = 0;
  let problem: string | undefined;
  let closed = false;

  const programOf = ({ image }: ContractImage): Program | undefined =>
    typeof programs === 'function' ? programs() : programs[image];
  const nameOf = ({ image, imageHash }: ContractImage): string => `${image} ${imageHash}`;
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.after(ms, resolve);
    });

  function imageProblem(of: ContractImage): ContractFailure | undefined {
    const { image, imageHash } = of;
    if (typeof programs === 'function') return undefined;
    const isThere = programOf(of) !== undefined && hashOf(image) === imageHash.toLowerCase();
    return isThere ? undefined : failure(`Image '${image}' is not found`, false);
  }

  async function result(execution: ContractExecution): Promise<ContractOutcome> {
    const program = programOf(execution.image);
    if (program === undefined) return failure('the container has no program', false);
    const took = callMs();
    if (took > 0) await wait(took);
    return program(execution, wait);
  }

  function limited(execution: ContractExecution): Promise<ContractOutcome> {
    const { image, signal, transaction } = execution;
    return new Promise((resolve) => {
      /** The container is thrown away, and the next one has to start. */
      const replace = (why: string): void => {
        ready.set(nameOf(image), clock.monotonic() + startMs);
        replaced++;
        end(failure(why, true));
      };
      const gone = (): void => replace('The engine has gone');
      const aborted = (): void => replace('The run was given up');
      const cancel = clock.after(timeoutMs, () =>
        replace(`Contract '${transaction.contractId}' execution timeout`),
      );
      function end(outcome: ContractOutcome): void {
        cancel();
        runs.delete(gone);
        signal?.removeEventListener('abort', aborted);
        resolve(outcome);
      }
      runs.add(gone);
      mostRunning = Math.max(mostRunning, runs.size);
      signal?.addEventListener('abort', aborted);
      result(execution).then(end, (cause: unknown) => end(failure(String(cause), true)));
    });
  }

  const ask = ({ image }: ContractImage, creator: string): void => {
    const known = creators.get(image) ?? new Set();
    creators.set(image, known.add(creator));
  };

  return {
    creatorsOf: (image) => [...(creators.get(image) ?? [])],
    get running() {
      return runs.size;
    },
    get mostRunning() {
      return mostRunning;
    },
    get replaced() {
      return replaced;
    },
    get containers() {
      return ready.size;
    },
    setProblem(now) {
      problem = now;
      if (now === undefined) return;
      for (const gone of [...runs]) gone();
      ready.clear();
    },
    prepare(image, _createVersion, creator) {
      ask(image, creator);
      if (closed || problem !== undefined) return { kind: 'starting' };
      const wrong = imageProblem(image);
      if (wrong !== undefined) return wrong;
      const name = nameOf(image);
      const from = ready.get(name) ?? clock.monotonic() + startMs;
      ready.set(name, from);
      return { kind: from <= clock.monotonic() ? 'ready' : 'starting' };
    },
    async checkImage(image, creator) {
      ask(image, creator);
      return imageProblem(image);
    },
    run: async (execution) => (closed ? failure('closed', true) : await limited(execution)),
    release: (image) => void ready.delete(nameOf(image)),
    readsAt: () => undefined,
    isOfOne: () => false,
    problem: () => problem,
    async close() {
      closed = true;
      for (const gone of [...runs]) gone();
      ready.clear();
    },
  };
}
