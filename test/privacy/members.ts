/**
 * Whole nodes that store confidential data in their own files, on a network in memory and a clock
 * that the test moves. Everything from the service behind the routes down to the disk is real.
 */

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { filesShelf } from '../../src/adapters/private-store/files-shelf.ts';
import { verifiedStore } from '../../src/adapters/private-store/verified.ts';
import { base58 } from '../../src/base/base58.ts';
import { findTransaction } from '../../src/chain/store/stored-blocks.ts';
import type { DataToSend } from '../../src/privacy/sending/data-to-send.ts';
import { signedBytes } from '../../src/tx/assemble.ts';
import { txFromJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { scheme } from '../chain/chain-harness.ts';
import {
  type Cluster,
  type ClusterNode,
  type ClusterOptions,
  cluster,
  type Member,
  type StartOptions,
} from '../network/cluster.ts';
import { temporaryFolder } from '../system/e2e/dev-node.ts';
import type { Scope } from '../system/e2e/process.ts';

export interface Keeper extends ClusterNode {
  /** Where its data lie. */
  readonly folder: string;
}

export interface Members extends Cluster {
  /** Starts a node that keeps confidential data. */
  keep(name: string, options?: StartOptions): Promise<Keeper>;
  /** Lets a little time pass until it holds; the disk takes its own time. */
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>;
  /** Into a block that all these nodes have. */
  confirm(tx: Tx, nodes: readonly ClusterNode[]): Promise<void>;
  /** A policy whose recipients these are; the first one owns it. */
  policy(recipients: readonly Member[], nodes: readonly ClusterNode[]): Promise<Uint8Array>;
  /** Adds recipients to a policy of this owner or removes them. */
  change(
    owner: Member,
    policyId: Uint8Array,
    opType: 'add' | 'remove',
    recipients: readonly Member[],
    nodes: readonly ClusterNode[],
  ): Promise<void>;
}

/** Steps so small that no limit of the exchange passes while the disk is busy. */
const STEP_MS = 20;
/** Where one passes nevertheless, a member is left alone for ten minutes: twice as long. */
const STEPS_MAX = 60_000;

export async function members(scope: Scope, options: ClusterOptions): Promise<Members> {
  const network = await cluster(scope, options);

  async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let step = 0; step < STEPS_MAX; step++) {
      if (await holds()) return;
      await network.clock.advance(STEP_MS);
      await sleep(1);
    }
    throw new Error(`it never came: ${what}`);
  }

  async function confirm(tx: Tx, nodes: readonly ClusterNode[]): Promise<void> {
    await nodes[0]!.node.pool.submit(tx);
    await until('a block with the transaction', () =>
      nodes.every(({ node }) => findTransaction(node.blockchain.view, tx.id) !== undefined),
    );
  }

  // The network itself, since tests change what it does.
  return Object.assign(network, {
    until,
    confirm,
    async keep(name: string, start: StartOptions = {}): Promise<Keeper> {
      const folder = temporaryFolder(scope);
      const privateStore = async (...[log]: [Parameters<typeof verifiedStore>[1]]) =>
        verifiedStore(await filesShelf(folder), log);
      const node = await network.start(name, { ...start, privateStore });
      return { ...node, folder };
    },
    async policy(
      recipients: readonly Member[],
      nodes: readonly ClusterNode[],
    ): Promise<Uint8Array> {
      const [owner] = recipients as [Member];
      const tx = make(owner, network.clock.now(), {
        type: 112,
        policyName: 'contracts',
        description: 'of the members',
        recipients: recipients.map(({ text }) => text),
        owners: [owner.text],
        fee: 100_000_000,
      });
      await confirm(tx, nodes);
      return tx.id;
    },
    change: (
      owner: Member,
      policyId: Uint8Array,
      opType: 'add' | 'remove',
      recipients: readonly Member[],
      nodes: readonly ClusterNode[],
    ) =>
      confirm(
        make(owner, network.clock.now(), {
          type: 113,
          policyId: base58.encode(policyId),
          recipients: recipients.map(({ text }) => text),
          owners: [],
          opType,
          fee: 50_000_000,
        }),
        nodes,
      ),
  });
}

/** A signed transaction of version 1. */
export function make(
  from: Pick<Member, 'publicKey' | 'sign'>,
  timestamp: number,
  fields: Record<string, unknown>,
): Tx {
  const json = { version: 1, timestamp, senderPublicKey: base58.encode(from.publicKey), ...fields };
  const proven = (signature: Uint8Array): Tx =>
    txFromJson({ ...json, proofs: [base58.encode(signature)] }, scheme);
  return proven(from.sign(signedBytes(proven(new Uint8Array(64)))));
}

export const sha256 = (bytes: Uint8Array): Uint8Array =>
  createHash('sha256').update(bytes).digest();

/** What a client of this node sends. */
export const dataOf = (
  node: Pick<Member, 'text'>,
  policyId: Uint8Array,
  bytes: Uint8Array,
  changes: Partial<DataToSend> = {},
): DataToSend => ({
  sender: node.text,
  policyId: base58.encode(policyId),
  info: {
    filename: 'a contract.pdf',
    size: bytes.length,
    timestamp: 1_000_000_000,
    author: 'a@b.c',
    comment: 'confidential',
  },
  data: Buffer.from(bytes).toString('base64'),
  hash: base58.encode(sha256(bytes)),
  ...changes,
});

/** The data that a node has, undefined where it has none. */
export async function held(
  { node }: ClusterNode,
  policyId: Uint8Array,
  bytes: Uint8Array,
): Promise<Buffer | undefined> {
  const { privacy } = node.services;
  const hash = sha256(bytes);
  if (!(await privacy!.holds({ policyId, hash }))) return undefined;
  const { pieces } = await privacy!.data(hash, policyId);
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece.slice());
  return Buffer.concat(parts);
}
