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
import { createTurns, type Turns } from '../base/turns.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { headerRowAt, transactionsAt } from '../chain/stored-blocks.ts';
import { allPolicies, hashesOf, isMember, RECIPIENT } from '../ledger/policies.ts';
import type { Tx } from '../tx/transaction.ts';
import { updatePolicy } from '../tx/types/113-update-policy.ts';
import { policyDataHash } from '../tx/types/114-policy-data-hash.ts';
import type { Backlog } from './fetch-backlog.ts';
import type { ItemId } from './item-id.ts';

const PAGE = 1_000;

export type Visit = (item: ItemId) => Promise<void>;

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
  visitPolicies(
    policyId: Uint8Array | undefined,
    visit: (policyId: Uint8Array) => Promise<void> | void,
  ): Promise<void>;
  /** Resolves when this service no longer reads the chain. */
  stop(): Promise<void>;
}

export function followChain(ports: FollowPorts): Follow {
  const { blockchain, backlog, clock, log, ownAddress } = ports;
  const { view } = blockchain;
  const readers = new Set<Promise<void>>();
  let stopped = false;
  let caughtUp = false;

  const isMine = (policyId: Uint8Array): boolean => isMember(view, policyId, RECIPIENT, ownAddress);
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
    reading(visit(policyId.slice(), async (item) => act(item))).catch(
      unlessOurs((cause) => log.error('privacy.follow-failed', { why: String(cause) })),
    );
  }

  const forget = blockchain.listen({
    block({ tip, block }) {
      for (const tx of block.txs) take(tx);
      if (caughtUp) backlog.follow(tip);
    },
    rolledBack(tip, txs) {
      for (const tx of txs) {
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

  // Reads in pages: a range of the store must not stay open while the head moves.
  async function visitPolicy(policyId: Uint8Array, visit: Visit, turns: Turns): Promise<void> {
    for (let skip = 0; ; skip += PAGE) {
      const page = [...hashesOf(view, policyId, PAGE, skip)];
      for (const hash of page) {
        if (stopped) return;
        await visit({ policyId, hash });
        if (turns.due()) await turns.take();
      }
      if (page.length < PAGE) return;
    }
  }

  async function visitPolicies(
    policyId: Uint8Array | undefined,
    visit: (policyId: Uint8Array) => Promise<void> | void,
  ): Promise<void> {
    if (policyId !== undefined) return visit(policyId);
    const turns = createTurns(clock);
    let after: Uint8Array | undefined;
    do {
      const page: Uint8Array[] = Array.from(allPolicies(view, PAGE, after), ([id]) => id);
      for (const id of page) if (!stopped && isMine(id)) await visit(id);
      after = page.length < PAGE ? undefined : page.at(-1);
      if (turns.due()) await turns.take();
    } while (after !== undefined && !stopped);
  }

  function visit(policyId: Uint8Array | undefined, action: Visit): Promise<void> {
    const turns = createTurns(clock);
    return visitPolicies(policyId, (id) => visitPolicy(id, action, turns));
  }

  /** Counts as reading until the work ends. */
  function reading<T>(work: Promise<T>): Promise<T> {
    const end = work.then(
      () => void readers.delete(end),
      () => void readers.delete(end),
    );
    readers.add(end);
    return work;
  }

  async function catchUp(): Promise<void> {
    const from = backlog.followed();
    const row = from && headerRowAt(view, from.height);
    if (from === undefined || row === undefined || !equal(row.header.signature, from.id)) {
      // The chain was never followed, or was followed along another branch.
      await visit(undefined, async (item) => ports.onMissed(item));
    } else {
      const turns = createTurns(clock);
      for (let height = from.height + 1; height <= blockchain.tip().height && !stopped; height++) {
        for (const tx of transactionsAt(view, height)) take(tx);
        if (turns.due()) await turns.take();
      }
    }
    if (stopped) return;
    caughtUp = true;
    backlog.follow(blockchain.tip());
  }

  return {
    catchUp: () => reading(catchUp()),
    visit: (policyId, action) => reading(visit(policyId, action)),
    visitPolicies: (policyId, action) => reading(visitPolicies(policyId, action)),
    async stop() {
      stopped = true;
      forget();
      await Promise.all(readers);
    },
  };
}
