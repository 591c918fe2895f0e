/** One misbehaviour of a registered miner: what it does, and the consequence for it. */
import type { Test } from 'tap';
import { blockProtocols, encodeTxList } from '../../../src/network/messages/block-messages.ts';
import { encodeTxHashes, txProtocols } from '../../../src/network/messages/transaction-messages.ts';
import type { OwnHello } from '../../../src/network/sessions/handshake.ts';
import type { Offence } from '../../../src/network/sessions/session.ts';
import { mostItems } from '../../../src/tx/size.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { account, payment, scheme } from '../../chain/chain-harness.ts';
import { policyBytes } from '../../generators/oversized.ts';
import type { Rng } from '../../generators/random.ts';
import type { Cluster, ClusterNode } from '../cluster.ts';
import type { Maverick } from '../maverick.ts';

export interface Row {
  readonly name: string;
  /** It acts so long at least. */
  readonly seconds?: number;
  /** Runs every second, once the maverick is connected or at least tries. */
  readonly act: (scene: Scene) => void | Promise<void>;
  /** What it claims in its handshake, beside the truth. */
  readonly hello?: Partial<OwnHello>;
  /** Other nodes know it by an account that makes no blocks, beside which it proves its miner. */
  readonly hasPrivacyOwner?: boolean;
  /** Rounds without a block before the honest nodes start. */
  readonly idleRounds?: number;
  /** Signed messages that the honest nodes have no room to check. */
  readonly noRoomFor?: (message: Uint8Array) => boolean;
  /** `key=value` as after `--set`, for every node. */
  readonly set?: readonly string[];
  readonly blame: Blame;
  /** More that must hold at the end. */
  readonly after?: (t: Test, scene: Omit<Scene, 'isTurn'>) => void;
}

/** What the log of at least one honest node must say of the maverick. */
export type Blame =
  | { readonly event: string; readonly fields: Readonly<Record<string, string | RegExp>> }
  /** No honest node may blame it. */
  | 'nobody';

export const offence = (kind: Offence, verdict: 'noted' | 'close' | 'blacklisted'): Blame => ({
  event: 'peer.offence',
  fields: { offence: kind, verdict },
});
export const refused = (why: RegExp): Blame => ({ event: 'peer.refused', fields: { why } });
export const nobody: Blame = 'nobody';

export interface Scene {
  readonly at: Cluster;
  /** The honest ones. */
  readonly nodes: readonly ClusterNode[];
  /** Any of them. */
  readonly node: ClusterNode;
  readonly mav: Maverick;
  readonly second: number;
  readonly now: number;
  readonly rng: Rng;
  /** True once in each round in which the maverick has the turn. */
  readonly isTurn: boolean;
  /** What one honest node has sent to another in their handshake. */
  readonly overheard: readonly Uint8Array[];
}

/** Without a role, and without a registration. */
export const stranger = account('nobody in particular');

/** A block in which the maverick has the turn, told to everybody. */
export const onTurn =
  (make: (scene: Scene) => Uint8Array): Row['act'] =>
  (scene) => {
    if (scene.isTurn) scene.mav.notifyAll(blockProtocols.newBlock, make(scene));
  };

export const randomId = (rng: Rng): Uint8Array => rng.bytes(64);

export const transferOf = ({ mav, now }: Scene, amount: bigint): Tx =>
  payment(mav, stranger, amount, now - 1000);

/** A policy of one recipient more than there is room for. */
export const oversized = ({ mav, now }: Scene): Uint8Array =>
  policyBytes(
    {
      publicKey: mav.publicKey,
      member: mav.address,
      members: mostItems(mav.address.length) + 1,
      timestamp: now - 1000,
      fee: 100_000_000n,
      sign: mav.sign,
    },
    scheme,
  );

/** Announces transactions and hands them out. */
export function spread(mav: Maverick, txs: readonly Uint8Array[]): void {
  mav.answers.set(txProtocols.txs, async () => encodeTxList(txs, scheme));
  const hashes = txs.map((bytes) => scheme.fastHash(bytes));
  mav.notifyAll(txProtocols.hashes, encodeTxHashes(hashes, scheme));
}
