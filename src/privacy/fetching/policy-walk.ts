/**
 * Walks through the items of policies in pages, since a range of the store must not stay open while
 * the head moves, and in short pieces, so that everything else can run.
 */
import type { Clock } from '../../base/ports/clock.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import type { KeyedView } from '../../ledger/committed-view.ts';
import { allPolicies, hashesOf } from '../../ledger/policies.ts';
import type { ItemId } from '../protocol/item-id.ts';

export type Visit = (item: ItemId) => Promise<void>;
export type VisitPolicy = (policyId: Uint8Array) => Promise<void> | void;

export interface PolicyWalkPorts {
  readonly view: KeyedView;
  readonly clock: Clock;
  /** True for the policies that a walk through all of them visits. */
  readonly isMine: (policyId: Uint8Array) => boolean;
}

const PAGE = 1_000;

export class PolicyWalk {
  private readonly ports: PolicyWalkPorts;
  private readonly walks = new Set<Promise<void>>();
  private stopped = false;

  constructor(ports: PolicyWalkPorts) {
    this.ports = ports;
  }

  /** Calls `visit` for every item of a policy, or of all policies of this node. */
  items(policyId: Uint8Array | undefined, visit: Visit): Promise<void> {
    const slice = new TimeSlice(this.ports.clock);
    return this.policies(policyId, (id) => this.itemsOf(id, visit, slice));
  }

  /** Calls `visit` for the policy, or for all policies of this node. */
  policies(policyId: Uint8Array | undefined, visit: VisitPolicy): Promise<void> {
    const walk = this.walk(policyId, visit);
    const end = walk.then(
      () => void this.walks.delete(end),
      () => void this.walks.delete(end),
    );
    this.walks.add(end);
    return walk;
  }

  /** Resolves when all walks have ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.walks);
  }

  private async itemsOf(policyId: Uint8Array, visit: Visit, slice: TimeSlice): Promise<void> {
    const { view } = this.ports;
    for (let skip = 0; ; skip += PAGE) {
      const page = [...hashesOf(view, policyId, PAGE, skip)];
      for (const hash of page) {
        if (this.stopped) return;
        await visit({ policyId, hash });
        if (slice.isOver()) await slice.yield();
      }
      if (page.length < PAGE) return;
    }
  }

  private async walk(policyId: Uint8Array | undefined, visit: VisitPolicy): Promise<void> {
    if (policyId !== undefined) return visit(policyId);
    const { view, clock, isMine } = this.ports;
    const slice = new TimeSlice(clock);
    let after: Uint8Array | undefined;
    do {
      const page: Uint8Array[] = Array.from(allPolicies(view, PAGE, after), ([id]) => id);
      for (const id of page) if (!this.stopped && isMine(id)) await visit(id);
      after = page.length < PAGE ? undefined : page.at(-1);
      if (slice.isOver()) await slice.yield();
    } while (after !== undefined && !this.stopped);
  }
}
