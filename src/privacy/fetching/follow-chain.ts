/**
 * Follows the chain to find the items that this node has to fetch (privacy.md#fetching): data bound
 * to a policy of which it is a recipient, and all data of a policy that it joins.
 *
 * Invariant: wanted items are written together with the block up to which the chain was followed,
 * so none is missed, whenever the node stops. While the items of a joined policy are being listed,
 * that block stays the one before. An item may be recorded twice without harm: when its
 * turn comes, an item that is stored, or no longer meant for this node, counts as done.
 */

import { equal } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import { headerRowAt, transactionBytesAt } from '../../chain/store/stored-blocks.ts';
import type { Tip } from '../../chain/tip.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { isMember, RECIPIENT } from '../../ledger/policies.ts';
import { withMembers } from '../../tx/members.ts';
import { decodeStoredTx, defOfBytes } from '../../tx/registry.ts';
import type { Tx } from '../../tx/transaction.ts';
import { updatePolicy } from '../../tx/types/113-update-policy.ts';
import { policyDataHash } from '../../tx/types/114-policy-data-hash.ts';
import type { ItemId } from '../protocol/item-id.ts';
import type { Backlog } from './fetch-backlog.ts';
import { PolicyReviews } from './policy-reviews.ts';
import { PolicyWalk, type Visit, type VisitPolicy } from './policy-walk.ts';

/** Others are not decoded: reading their scripts would take seconds for a block. */
function isFollowed(bytes: Uint8Array): boolean {
  const def = defOfBytes(bytes);
  return (
    def?.members !== undefined ||
    def?.type === policyDataHash.type ||
    def?.type === updatePolicy.type
  );
}

/** Those of stored bytes, and the members of atomic transactions. */
export const followedIn = (bytes: Uint8Array, scheme: ChainScheme): Iterable<Tx> =>
  withMembers(isFollowed(bytes) ? [decodeStoredTx(bytes, scheme)] : []);

export interface FollowDeps {
  readonly blockchain: Blockchain;
  readonly backlog: Backlog;
  readonly clock: Clock;
  readonly log: Log;
  /** Address of the owner of this node. */
  readonly ownAddress: Uint8Array;
  /** The item was bound by a new block. */
  readonly onNew: (item: ItemId) => void;
  /** The item was bound earlier, and may be stored already. */
  readonly onMissed: (item: ItemId) => void;
  /** The item is no longer to be fetched. */
  readonly onGone: (item: ItemId) => void;
}

export class ChainFollower {
  private readonly deps: FollowDeps;
  private readonly walk: PolicyWalk;
  private readonly reviews: PolicyReviews;
  private forget = (): void => {};
  private catchingUp = Promise.resolve();
  private stopped = false;
  private caughtUp = false;
  private latest: Tip | undefined;

  constructor(deps: FollowDeps) {
    this.deps = deps;
    const { clock, blockchain, log } = deps;
    this.reviews = new PolicyReviews({
      log,
      review: (policyId) => this.review(policyId),
      onDone: () => this.followed(),
    });
    this.walk = new PolicyWalk({ view: blockchain.view, clock, isMine: (id) => this.isMine(id) });
  }

  /** Hears of the blocks from now on. */
  start(): void {
    this.forget = this.deps.blockchain.listen({
      block: ({ tip, block }) => {
        for (const tx of withMembers(block.txs)) this.take(tx);
        this.moved(tip);
      },
      rolledBack: (tip, txs) => {
        for (const tx of withMembers(txs)) this.takeBack(tx);
        this.moved(tip);
      },
    });
  }

  /** Resolves when this service no longer reads the chain. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.forget();
    const { walk, reviews, catchingUp } = this;
    await Promise.all([walk.stop(), reviews.idle(), catchingUp.catch(() => undefined)]);
  }

  /** Reads the blocks that were added while this service did not run. */
  catchUp(): Promise<void> {
    this.catchingUp = this.readOn();
    return this.catchingUp;
  }

  /**
   * Calls `visit` for every item of a policy, or of all policies of which this node is a recipient.
   */
  visit(policyId: Uint8Array | undefined, visit: Visit): Promise<void> {
    return this.walk.items(policyId, visit);
  }

  /** Calls back for the policy, or for all of which this node is a recipient. */
  visitPolicies(policyId: Uint8Array | undefined, visit: VisitPolicy): Promise<void> {
    return this.walk.policies(policyId, visit);
  }

  private isMine(policyId: Uint8Array): boolean {
    const { blockchain, ownAddress } = this.deps;
    return isMember(blockchain.view, policyId, RECIPIENT, ownAddress);
  }

  private concernsMe({ fields }: Tx): boolean {
    const recipients = fields['recipients'] as readonly Uint8Array[];
    return recipients.some((one) => equal(one, this.deps.ownAddress));
  }

  private take(tx: Tx): void {
    const policyId = tx.fields['policyId'] as Uint8Array;
    if (tx.type === policyDataHash.type && this.isMine(policyId)) this.deps.onNew(itemOf(tx));
    else if (tx.type === updatePolicy.type && this.concernsMe(tx)) this.reviews.add(policyId);
  }

  private takeBack(tx: Tx): void {
    if (tx.type === policyDataHash.type) this.deps.onGone(itemOf(tx));
    else if (tx.type === updatePolicy.type && this.concernsMe(tx)) {
      this.reviews.add(tx.fields['policyId'] as Uint8Array);
    }
  }

  /** The transactions up to here have been taken. */
  private moved(tip: Tip): void {
    this.latest = tip;
    void this.reviews.run();
    this.followed();
  }

  private followed(): void {
    const { latest } = this;
    if (latest === undefined || !this.caughtUp || this.stopped || !this.reviews.isDone) return;
    this.deps.backlog.follow(latest);
  }

  /** This node has joined the policy or left it. False where the walk was cut short. */
  private async review(policyId: Uint8Array): Promise<boolean> {
    const { onMissed, onGone } = this.deps;
    const act = this.isMine(policyId) ? onMissed : onGone;
    await this.walk.items(policyId, async (item) => act(item));
    return !this.stopped;
  }

  private async readOn(): Promise<void> {
    const { blockchain, backlog, clock, onMissed } = this.deps;
    const { view } = blockchain;
    const from = backlog.followed();
    const row = from && headerRowAt(view, from.height);
    if (from === undefined || row === undefined || !equal(row.header.signature, from.id)) {
      // The chain was never followed, or was followed along another branch.
      await this.walk.items(undefined, async (item) => onMissed(item));
    } else {
      const slice = new TimeSlice(clock);
      let height = from.height + 1;
      for (; height <= blockchain.tip().height && !this.stopped; height++) {
        // In one go, since a rollback in between would be told of before its block.
        for (const bytes of transactionBytesAt(view, height)) {
          for (const tx of followedIn(bytes, view.scheme)) this.take(tx);
        }
        if (slice.isOver()) await slice.yield();
      }
    }
    if (this.stopped) return;
    this.caughtUp = true;
    this.moved(blockchain.tip());
    await this.reviews.run();
  }
}

const itemOf = ({ fields }: Tx): ItemId => ({
  policyId: fields['policyId'] as Uint8Array,
  hash: fields['dataHash'] as Uint8Array,
});
