/**
 * The end of containers. Invariant: what carries the label of this node is in the engine only while
 * its name is known here, or until the next removal of strays.
 */
import { contractLimits } from '../../base/contract-limits.ts';
import type { Clock, Log } from '../../base/ports.ts';
import type { Container } from './container.ts';
import type { Engine } from './engine.ts';
import { EngineAway, EngineRefusal } from './engine-client.ts';
import { reasonOf } from './failures.ts';

export interface Removals {
  /** Containers that use the machine, from before their creation until they are gone. */
  readonly present: number;
  /** Those of them whose removal is under way. */
  readonly leaving: number;
  /** A container of this name is about to be created. */
  expect(name: string): void;
  /** No container of this name is in use any more; if one is there, it is a stray. */
  forget(name: string): void;
  /** The engine has not removed it; it counts until the next removal of strays. */
  notRemoved(name: string, cause: unknown): void;
  /** Removes in the background. */
  remove(container: Container): void;
  /** Stops it and keeps it for a look, until others have failed or the node ends. */
  keep(container: Container): void;
  /** The node does not end before this work has. */
  track(work: Promise<void>): void;
  /**
   * Removes what is in the engine under the label of this node and not in use. What the engine refuses
   * to remove counts from now on. Rejects with EngineAway.
   */
  strays(): Promise<void>;
  /** Removes strays where there may be any. */
  sweep(): void;
  /** Ends all; gives up after a while. */
  close(): Promise<void>;
}

export interface RemovalsDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
  onAway(): void;
}

/** Containers that failed and are kept. */
const KEPT_MAX = contractLimits.kept.value;
/** A stopping node leaves what is not removed by then to its next start. */
const CLOSE_MS = 6000;

export function createRemovals(label: string, deps: RemovalsDeps): Removals {
  const { engine, clock, log, onAway } = deps;
  const names = new Set<string>();
  const kept: Container[] = [];
  /** Kept ones that have ended. */
  const stopped = new Set<string>();
  const leaving = new Set<string>();
  /** What may be there although it was to be removed. */
  const lost = new Set<string>();
  const work = new Set<Promise<void>>();
  let mayHaveStrays = false;

  function failed(name: string, cause: unknown): void {
    mayHaveStrays = true;
    log.warn('container.not-removed', { name, why: reasonOf(cause) });
    if (cause instanceof EngineAway) onAway();
  }

  function notRemoved(name: string, cause: unknown): void {
    lost.add(name);
    failed(name, cause);
  }

  function track(one: Promise<void>): void {
    work.add(one);
    void one.finally(() => work.delete(one));
  }

  function remove(container: Container): void {
    const { name } = container;
    leaving.add(name);
    const removal = container.remove().catch((cause: unknown) => notRemoved(name, cause));
    const gone = (): void => {
      for (const known of [names, leaving, stopped]) known.delete(name);
    };
    track(removal.finally(gone));
  }

  async function strays(): Promise<void> {
    mayHaveStrays = false;
    const before = [...lost];
    const stuck = new Set<string>();
    for (const what of ['containers', 'networks'] as const) {
      const found = (await engine.withLabel(what, label)).filter((name) => !names.has(name));
      const removeOne = what === 'containers' ? engine.remove : engine.removeNetwork;
      const removed = await Promise.all(found.map((name) => isRemoved(name, removeOne, stuck)));
      const count = removed.filter(Boolean).length;
      if (count > 0) log.info('container.strays-removed', { what, count });
      if (what === 'containers') for (const name of stuck) lost.add(name);
    }
    for (const name of before) if (!stuck.has(name)) lost.delete(name);
  }

  /** One that the engine does not remove is in nobody's way but its own. */
  async function isRemoved(
    name: string,
    removeOne: (name: string) => Promise<void>,
    stuck: Set<string>,
  ): Promise<boolean> {
    try {
      await removeOne(name);
      return true;
    } catch (cause) {
      if (!(cause instanceof EngineRefusal)) throw cause;
      stuck.add(name);
      failed(name, cause);
      return false;
    }
  }

  return {
    get present() {
      return names.size - stopped.size + lost.size;
    },
    get leaving() {
      return leaving.size;
    },
    expect: (name) => void names.add(name),
    forget(name) {
      names.delete(name);
      mayHaveStrays = true;
    },
    notRemoved,
    remove,
    keep(container) {
      const { name } = container;
      kept.push(container);
      const stop = container.stop().then(() => void (names.has(name) && stopped.add(name)));
      track(stop.catch((cause: unknown) => failed(name, cause)));
      if (kept.length > KEPT_MAX) remove(kept.shift()!);
    },
    track,
    strays,
    sweep() {
      if (mayHaveStrays) track(strays().catch((cause: unknown) => failed(label, cause)));
    },
    async close() {
      for (const container of kept.splice(0)) remove(container);
      const late = new Promise<void>((resolve) => void clock.after(CLOSE_MS, resolve));
      const all = Promise.all(work).then(strays);
      await Promise.race([all, late]).catch((cause: unknown) => failed(label, cause));
    },
  };
}
