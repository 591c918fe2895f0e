/**
 * Follows the chain to find the items that this node has to fetch (privacy.md#fetching): data bound
 * to a policy of which it is a recipient, and all data of a policy that it joins.
 *
 * Invariant: wanted items are written together with the block up to which the chain was followed,
 * so none is missed, whenever the node stops. An item may be recorded twice without harm: when its
 * turn comes, an item that is stored, or no longer meant for this node, counts as done.
 */

import { unlessOurs } from '../base/assert.ts';
import { equal } from '../base/bytes.ts';
import type { Clock, Log } from '../base/ports.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { headerRowAt, transactionBytesAt } from '../chain/store/stored-blocks.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import { isMember, RECIPIENT } from '../ledger/policies.ts';
import { withMembers } from '../tx/members.ts';
import { decodeTx, defOfBytes } from '../tx/registry.ts';
import type { Tx } from '../tx/transaction.ts';
import { updatePolicy } from '../tx/types/113-update-policy.ts';
import { policyDataHash } from '../tx/types/114-policy-data-hash.ts';
import type { Backlog } from './fetch-backlog.ts';
import type { ItemId } from './item-id.ts';
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

const followedIn = (bytes: Uint8Array, scheme: ChainScheme): Iterable<Tx> =>
  withMembers(isFollowed(bytes) ? [decodeTx(bytes, scheme)] : []);

export interface FollowPorts {
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

export interface Follow {
  /** Reads the blocks that were added while this service did not run. */
  catchUp(): Promise<void>;
  /**
   * Calls `visit` for every item of a policy, or of all policies of which this node is a recipient.
   */
  visit(policyId: Uint8Array | undefined, visit: Visit): Promise<void>;
  /** Calls back for the policy, or for all of which this node is a recipient. */
  visitPolicies(policyId: Uint8Array | undefined, visit: VisitPolicy): Promise<void>;
  /** Resolves when this service no longer reads the chain. */
  stop(): Promise<void>;
}

export function followChain(ports: FollowPorts): Follow {
  const { blockchain, backlog, clock, log, ownAddress } = ports;
  const { view } = blockchain;
  let stopped = false;
  let caughtUp = false;

  const isMine = (policyId: Uint8Array): boolean => isMember(view, policyId, RECIPIENT, ownAddress);
  const walk = new PolicyWalk({ view, clock, isMine });
  let catchingUp = Promise.resolve();
  const concernsMe = (tx: Tx): boolean =>
    (tx.fields['recipients'] as readonly Uint8Array[]).some((one) => equal(one, ownAddress));

  function take(tx: Tx): void {
    const { type, fields } = tx;
    const policyId = fields['policyId'] as Uint8Array;
    if (type === policyDataHash.type && isMine(policyId)) {
      ports.onNew({ policyId, hash: fields['dataHash'] as Uint8Array });
    } else if (type === updatePolicy.type && concernsMe(tx)) {
      review(policyId);
    }
  }

  /** This node has joined the policy or left it. */
  function review(policyId: Uint8Array): void {
    const act = isMine(policyId) ? ports.onMissed : ports.onGone;
    walk
      .items(policyId.slice(), async (item) => act(item))
      .catch(unlessOurs((cause) => log.error('privacy.follow-failed', { why: String(cause) })));
  }

  const forget = blockchain.listen({
    block({ tip, block }) {
      for (const tx of withMembers(block.txs)) take(tx);
      if (caughtUp) backlog.follow(tip);
    },
    rolledBack(tip, txs) {
      for (const tx of withMembers(txs)) {
        const policyId = tx.fields['policyId'] as Uint8Array;
        if (tx.type === policyDataHash.type) {
          ports.onGone({ policyId, hash: tx.fields['dataHash'] as Uint8Array });
        } else if (tx.type === updatePolicy.type && concernsMe(tx)) {
          review(policyId);
        }
      }
      if (caughtUp) backlog.follow(tip);
    },
  });

  async function catchUp(): Promise<void> {
    const from = backlog.followed();
    const row = from && headerRowAt(view, from.height);
    if (from === undefined || row === undefined || !equal(row.header.signature, from.id)) {
      // The chain was never followed, or was followed along another branch.
      await walk.items(undefined, async (item) => ports.onMissed(item));
    } else {
      const slice = new TimeSlice(clock);
      for (let height = from.height + 1; height <= blockchain.tip().height && !stopped; height++) {
        // In one go, since a rollback in between would be told of before its block.
        for (const bytes of transactionBytesAt(view, height)) {
          for (const tx of followedIn(bytes, view.scheme)) take(tx);
        }
        if (slice.isOver()) await slice.yield();
      }
    }
    if (stopped) return;
    caughtUp = true;
    backlog.follow(blockchain.tip());
  }

  return {
    catchUp() {
      catchingUp = catchUp();
      return catchingUp;
    },
    visit: (policyId, action) => walk.items(policyId, action),
    visitPolicies: (policyId, action) => walk.policies(policyId, action),
    async stop() {
      stopped = true;
      forget();
      await Promise.all([walk.stop(), catchingUp.catch(() => undefined)]);
    },
  };
}
