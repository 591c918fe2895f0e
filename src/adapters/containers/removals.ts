/**
 * The end of containers. Invariant: what carries the label of this node is in the engine only while
 * its name is known here, or until the next removal of strays.
 */
import { pause } from '../../base/deadline.ts';
import { contractLimits } from '../../base/limits/contract-limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Container } from './container.ts';
import type { Engine } from './engine.ts';
import { EngineAway, EngineRefusal } from './engine-client.ts';
import { reasonOf } from './failures.ts';

export interface RemovalsDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
  /** The engine did not answer a call. */
  onAway(): void;
}

/** Containers that failed and are kept. */
const KEPT_MAX = contractLimits.kept.value;
/** A stopping node leaves what is not removed by then to its next start. */
const CLOSE_MS = 6000;

export class Removals {
  readonly #label: string;
  readonly #deps: RemovalsDeps;
  readonly #names = new Set<string>();
  readonly #kept: Container[] = [];
  /** Kept ones that have ended. */
  readonly #stopped = new Set<string>();
  readonly #leaving = new Set<string>();
  /** What may be there although it was to be removed. */
  readonly #lost = new Set<string>();
  readonly #work = new Set<Promise<void>>();
  #mayHaveStrays = false;

  constructor(label: string, deps: RemovalsDeps) {
    this.#label = label;
    this.#deps = deps;
  }

  /** Containers that use the machine, from before their creation until they are gone. */
  get present(): number {
    return this.#names.size - this.#stopped.size + this.#lost.size;
  }

  /** Those of them whose removal is under way. */
  get leaving(): number {
    return this.#leaving.size;
  }

  /** A container of this name is about to be created. */
  expect(name: string): void {
    this.#names.add(name);
  }

  /** No container of this name is in use any more; if one is there, it is a stray. */
  forget(name: string): void {
    this.#names.delete(name);
    this.#mayHaveStrays = true;
  }

  /** The engine has not removed it; it counts until the next removal of strays. */
  notRemoved(name: string, cause: unknown): void {
    this.#lost.add(name);
    this.#failed(name, cause);
  }

  /** Removes in the background. */
  remove(container: Container): void {
    const { name } = container;
    this.#leaving.add(name);
    const removal = container.remove().catch((cause: unknown) => this.notRemoved(name, cause));
    const gone = (): void => {
      for (const known of [this.#names, this.#leaving, this.#stopped]) known.delete(name);
    };
    this.track(removal.finally(gone));
  }

  /** Stops it and keeps it for a look, until others have failed or the node ends. */
  keep(container: Container): void {
    const { name } = container;
    this.#kept.push(container);
    const stop = container.stop().then(() => {
      if (this.#names.has(name)) this.#stopped.add(name);
    });
    this.track(stop.catch((cause: unknown) => this.#failed(name, cause)));
    if (this.#kept.length > KEPT_MAX) this.remove(this.#kept.shift()!);
  }

  /** The node does not end before this work has. */
  track(one: Promise<void>): void {
    this.#work.add(one);
    void one.finally(() => this.#work.delete(one));
  }

  /**
   * Removes what is in the engine under the label of this node and not in use. What the engine refuses
   * to remove counts from now on. Rejects with EngineAway.
   */
  async strays(): Promise<void> {
    const { engine, log } = this.#deps;
    this.#mayHaveStrays = false;
    const before = [...this.#lost];
    const stuck = new Set<string>();
    for (const what of ['containers', 'networks'] as const) {
      const named = await engine.withLabel(what, this.#label);
      const found = named.filter((name) => !this.#names.has(name));
      const removeOne = (name: string): Promise<void> =>
        what === 'containers' ? engine.remove(name) : engine.removeNetwork(name);
      const removed = await Promise.all(
        found.map((name) => this.#isRemoved(name, removeOne, stuck)),
      );
      const count = removed.filter(Boolean).length;
      if (count > 0) log.info('container.strays-removed', { what, count });
      if (what === 'containers') for (const name of stuck) this.#lost.add(name);
    }
    for (const name of before) if (!stuck.has(name)) this.#lost.delete(name);
  }

  /** Removes strays where there may be any. */
  sweep(): void {
    if (!this.#mayHaveStrays) return;
    this.track(this.strays().catch((cause: unknown) => this.#failed(this.#label, cause)));
  }

  /** Ends all; gives up after a while. */
  async close(): Promise<void> {
    for (const container of this.#kept.splice(0)) this.remove(container);
    const late = pause(this.#deps.clock, CLOSE_MS);
    const all = Promise.all(this.#work).then(() => this.strays());
    await Promise.race([all, late]).catch((cause: unknown) => this.#failed(this.#label, cause));
  }

  #failed(name: string, cause: unknown): void {
    this.#mayHaveStrays = true;
    this.#deps.log.warn('container.not-removed', { name, why: reasonOf(cause) });
    if (cause instanceof EngineAway) this.#deps.onAway();
  }

  /** One that the engine does not remove is in nobody's way but its own. */
  async #isRemoved(
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
      this.#failed(name, cause);
      return false;
    }
  }
}
