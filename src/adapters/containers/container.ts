/**
 * One container, from its creation to its removal. It runs calls, each under a time limit, and says
 * when it has ended. After `remove` nothing of it is left in the engine.
 */

import { timeLimit } from '../../base/deadline.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type {
  ContractExecution,
  ContractImage,
  ContractOutcome,
} from '../../base/ports/containers.ts';
import type { Log } from '../../base/ports/log.ts';
import { aborted, createCalls, END_SEEN_MS, failureOf } from './calls.ts';
import type { Capacity } from './capacity.ts';
import { type ContainerLimits, containerDefinition } from './container-definition.ts';
import type {
  ContainerInterface,
  ContainerNetwork,
  ContainerSession,
} from './container-interface.ts';
import type { ContainerEnd, Engine } from './engine.ts';
import type { ImageInfo } from './engine-answers.ts';
import { EngineRefusal } from './engine-client.ts';
import { EngineShort, Failed, ofContract, reasonOf } from './failures.ts';
import { readOutput } from './output-frames.ts';

export interface ContainerOptions {
  readonly limits: ContainerLimits;
  readonly startupMs: number;
  readonly executionMs: number;
  /** True: containers reach networks beyond the node. */
  readonly allowNetAccess: boolean;
}

export interface ContainerDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs what costs the machine of the engine much in its turn. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** What is left of a start that has failed. */
  notRemoved(name: string, cause: unknown): void;
}

export interface ContainerPlan {
  /** Unique for ever, in the engine and among networks. */
  readonly name: string;
  readonly connectionId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly image: ContractImage;
  readonly info: ImageInfo;
  readonly protocol: 'exec' | 'grpc';
  readonly use: ContainerInterface;
  readonly capacity: Capacity;
}

export interface Container {
  readonly name: string;
  /** Resolves when it can run no more calls, with the reason as a text for users. */
  readonly ended: Promise<string>;
  /** A failure that rejects with Failed leaves the container unfit for other calls. */
  run(execution: ContractExecution): Promise<ContractOutcome>;
  /** Ends it and keeps it for a look at its output. */
  stop(): Promise<void>;
  /** Ends its calls. Resolves when it is gone; rejects where the engine does not remove it. */
  remove(): Promise<void>;
}

const ID_CHARS = 12;
const LOG_BYTES_MAX = 64 * 1024;
const LOG_SHOWN_CHARS = 2000;
const LOG_MS = 5000;

/**
 * Resolves once calls may begin. Rejects with Failed, EngineAway or EngineShort, or with the reason of the signal;
 * then nothing of it is left, as far as the engine answers.
 */
export async function startContainer(
  plan: ContainerPlan,
  options: ContainerOptions,
  deps: ContainerDeps,
  signal: AbortSignal,
): Promise<Container> {
  const { engine, clock } = deps;
  const ending = new AbortController();
  const start = new AbortController();
  const both = AbortSignal.any([signal, start.signal, ending.signal]);
  let cancel = (): void => {};
  const tooLong = (): void => {
    start.abort(new Failed(ofContract(`Container of image '${plan.image.image}' startup timeout`)));
  };
  let session: ContainerSession | undefined;
  const removeAll = async (): Promise<void> => {
    await session?.close();
    await engine.remove(plan.name);
    if (needsNetwork(plan, options)) await engine.removeNetwork(plan.name);
  };
  async function begin(): Promise<{ readonly id: string; readonly session: ContainerSession }> {
    both.throwIfAborted();
    cancel = clock.after(options.startupMs, tooLong);
    const isConnected = needsNetwork(plan, options);
    const network = isConnected ? await makeNetwork(plan, options, engine, both) : undefined;
    const { connectionId, image, info, labels, capacity } = plan;
    session = await plan.use.open({ connectionId, image, network });
    const definition = {
      image: info,
      labels,
      capacity,
      limits: options.limits,
      setup: session.setup,
      network: isConnected ? plan.name : undefined,
      engine: engine.kind,
    };
    const id = await engine.create(plan.name, containerDefinition(definition), both);
    await engine.start(id, both);
    return { id, session };
  }
  try {
    const { id, session } = await deps.inTurn(begin);
    const ended = endOf(id, session, deps, ending);
    const early = ended.then((end) => {
      throw new Failed(ofContract(`Container '${id.slice(0, ID_CHARS)}' ${endText(end)}`));
    });
    await Promise.race([session.ready(id, both), early, aborted(both)]);
    // From here on the end is no failure of the start.
    early.catch(() => {});
    return running({ id, plan, options, deps, session, ended, ending, removeAll });
  } catch (cause) {
    ending.abort(cause);
    await removeAll().catch((problem: unknown) => deps.notRemoved(plan.name, problem));
    if (cause instanceof EngineRefusal && cause.isShortage)
      throw new EngineShort(cause.message, { cause });
    throw failureOf(cause);
  } finally {
    cancel();
  }
}

interface Running {
  readonly id: string;
  readonly plan: ContainerPlan;
  readonly options: ContainerOptions;
  readonly deps: ContainerDeps;
  readonly session: ContainerSession;
  readonly ended: Promise<ContainerEnd | undefined>;
  /** Ends all that waits for the container. */
  readonly ending: AbortController;
  removeAll(): Promise<void>;
}

function running(of: Running): Container {
  const { id, plan, options, deps, session, ending, removeAll } = of;
  const containerId = id.slice(0, ID_CHARS);
  const callOptions = { ...options, containerId, protocol: plan.protocol };
  const calls = createCalls(callOptions, session, deps.clock);
  const stop = (): void => {
    calls.end(undefined);
    ending.abort();
  };
  return {
    name: plan.name,
    ended: of.ended.then((end) => {
      calls.end(endText(end));
      return `Container '${containerId}' ${endText(end)}`;
    }),
    run: (execution) => calls.run(execution),
    async stop() {
      stop();
      await session.close();
      await deps.engine.kill(id);
    },
    async remove() {
      stop();
      await removeAll();
    },
  };
}

/** Waits for the end of the container, or of its session; undefined where nothing is known of it. */
async function endOf(
  id: string,
  session: ContainerSession,
  { engine, log, clock }: ContainerDeps,
  ending: AbortController,
): Promise<ContainerEnd | undefined> {
  const exit = engine.wait(id, ending.signal).then(
    () => true,
    () => false,
  );
  await Promise.race([exit, session.ended]);
  // A program that ends loses its connection first. Its code, or that it had no memory left, comes later.
  const { late, cancel } = timeLimit(clock, END_SEEN_MS);
  await Promise.race([exit, late]);
  cancel();
  if (ending.signal.aborted) return undefined;
  const end = await engine.end(id).catch(() => undefined);
  log.warn('container.ended', {
    id: id.slice(0, ID_CHARS),
    ...end,
    output: await lastLines(id, engine),
  });
  return end;
}

async function lastLines(id: string, engine: Engine): Promise<string> {
  try {
    const signal = AbortSignal.timeout(LOG_MS);
    const pieces = await engine.logs(id, signal);
    const { stdout, stderr } = await readOutput(pieces, LOG_BYTES_MAX, 2 * LOG_BYTES_MAX);
    return Buffer.concat([stdout, stderr]).toString().slice(-LOG_SHOWN_CHARS);
  } catch (cause) {
    return `(${reasonOf(cause)})`;
  }
}

function endText(end: ContainerEnd | undefined): string {
  if (end === undefined) return 'has ended';
  const why = end.outOfMemory ? ', out of memory' : '';
  return `has ended with code ${end.exitCode}${why}`;
}

const needsNetwork = ({ use }: ContainerPlan, { allowNetAccess }: ContainerOptions): boolean =>
  use.needsNetwork || allowNetAccess;

/** A bridge for this container alone, because containers on one bridge reach each other. */
const makeNetwork = (
  { name, labels }: ContainerPlan,
  { allowNetAccess }: ContainerOptions,
  engine: Engine,
  signal: AbortSignal,
): Promise<ContainerNetwork> =>
  engine.createNetwork(
    name,
    {
      Name: name,
      Driver: 'bridge',
      CheckDuplicate: true,
      Internal: !allowNetAccess,
      Labels: labels,
    },
    signal,
  );
