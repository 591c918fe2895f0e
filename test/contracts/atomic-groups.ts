/** Atomic transactions with contracts, for a node of contract-node.ts. */
import { base58 } from '../../src/base/base58.ts';
import { type JsonObject, parse, stringify } from '../../src/base/json/json.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import type { Account } from '../node/in-process.ts';
import { hashOfImage } from '../simulated/containers.ts';
import type { ContractNode } from './contract-node.ts';

export const badge = { atomicBadge: { trustedSender: null } };
/** A node, and who sends what no other account does. */
type Place = Pick<ContractNode, 'at' | 'owner'>;

export const extra = { feeAssetId: null, ...badge };

export const callOf = (node: Place, contract: Tx, more: object = {}, by = node.owner): Tx =>
  node.at.make(by, {
    ...{ type: 104, version: 4, contractId: base58.encode(contract.id), params: [] },
    ...{ contractVersion: 1, ...extra },
    ...more,
  });

export const creationOf = (node: Place, image: string, more: object = {}, by = node.owner): Tx =>
  node.at.make(by, {
    ...{ type: 103, version: 3, image, imageHash: hashOfImage(image), contractName: image },
    ...{ params: [], ...extra },
    ...more,
  });

export const updateOf = (node: Place, contract: Tx, image: string, more: object = {}): Tx =>
  node.at.make(node.owner, {
    ...{ type: 107, version: 3, contractId: base58.encode(contract.id), image },
    ...{ imageHash: hashOfImage(image), ...extra },
    ...more,
  });

export const transferOf = (node: Place, to: Account, amount: bigint): Tx =>
  node.at.make(node.owner, {
    ...{ type: 4, version: 3, recipient: to.text, amount, attachment: '', ...badge },
  });

export const banOf = (node: Place, target: Account, by: Account): Tx =>
  node.at.make(by, {
    ...{ type: 102, version: 2, target: target.text, opType: 'add', role: 'banned' },
    ...{ dueTimestamp: null, ...badge },
  });

export const groupOf = (
  { at, owner }: Place,
  members: readonly Tx[],
  more: object = {},
  by = owner,
): Tx =>
  at.make(by, {
    type: 120,
    transactions: members.map((tx) => parse(stringify(txToJson(tx, at.scheme))) as JsonObject),
    ...more,
  });

export const inPool = ({ at }: Pick<Place, 'at'>, tx: Tx): boolean =>
  at.node.pool.get(tx.id) !== undefined;

export const types = (block: readonly Tx[]): readonly number[] => block.map(({ type }) => type);
