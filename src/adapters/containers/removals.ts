/**
 * The end of containers. Invariant: what carries the label of this node is in the engine only while
 * its name is known here, or until the next removal of strays.
 */
import type { Clock, Log } from '../../base/ports.ts';
import type { Container } from './container.ts';
import type { Engine } from './engine.ts';
import { EngineAway } from './engine-client.ts';
import { reasonOf } from './failures.ts';

export interface Removals {
  /** A container of this name is about to be created. */
  expect(name: string): void;
  /** No container of this name is in use any more; if one is there, it is a stray. */
  forget(name: string): void;
  /** Removes in the background. */
  remove(container: Container): void;
  /** Stops it and keeps it for a look, until others have failed or the node ends. */
  keep(container: Container): void;
  /** The node does not end before this work has. */
  track(work: Promise<void>): void;
  /** Removes what is in the engine under the label of this node and not in use. */
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
const KEPT_MAX = 10;
/** A stopping node leaves what is not removed by then to its next start. */
const CLOSE_MS = 6000;

export function createRemovals(label: string, deps: RemovalsDeps): Removals {
  const { engine, clock, log, onAway } = deps;
  const names = new Set<string>();
  const kept: Container[] = [];
  const work = new Set<Promise<void>>();
  let mayHaveStrays = false;

  function failed(name: string, cause: unknown): void {
    mayHaveStrays = true;
    log.warn('container.not-removed', { name, why: reasonOf(cause) });
    if (cause instanceof EngineAway) onAway();
  }

  function track(one: Promise<void>): void {
    work.add(one);
    void one.finally(() => work.delete(one));
  }

  function remove(container: Container): void {
    const removal = container.remove().catch((cause: unknown) => failed(container.name, cause));
    track(removal.finally(() => names.delete(container.name)));
  }

  async function strays(): Promise<void> {
    mayHaveStrays = false;
    for (const what of ['containers', 'networks'] as const) {
      const found = (await engine.withLabel(what, label)).filter((name) => !names.has(name));
      const removeOne = what === 'containers' ? engine.remove : engine.removeNetwork;
      await Promise.all(found.map(removeOne));
      if (found.length > 0) log.info('container.strays-removed', { what, count: found.length });
    }
  }

  return {
    expect: (name) => void names.add(name),
    forget(name) {
      names.delete(name);
      mayHaveStrays = true;
    },
    remove,
    keep(container) {
      kept.push(container);
      track(container.stop().catch((cause: unknown) => failed(container.name, cause)));
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
