/** A whole node whose chain has objects of every kind, for the endpoints that read. */

import { createHash } from 'node:crypto';
import { base58 } from '../../src/base/base58.ts';
import { transactionsAt } from '../../src/chain/store/stored-blocks.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import type { Scope } from '../system/e2e/process.ts';
import {
  ROUND_MS,
  type TxFields,
  type WholeNode,
  type WholeOptions,
  wholeNode,
} from './in-process.ts';
import { orderJson, PRICE, signedOrder } from './orders.ts';

export interface Populated extends WholeNode {
  /** Ids in Base58 by what they are of. */
  readonly ids: Readonly<Record<Thing, string>>;
  /** One transaction of each type that is on the chain. */
  readonly byType: ReadonlyMap<number, Tx>;
  readonly alias: string;
}

type Thing = 'asset' | 'lease' | 'policy' | 'contract' | 'call' | 'transfer' | 'waiting' | 'hash';

const image = { image: 'registry/sum:1', imageHash: 'ab'.repeat(32) };

export async function populated(scope: Scope, options: WholeOptions = {}): Promise<Populated> {
  const set = ['miner.enable=no', ...(options.set ?? [])];
  const whole = await wholeNode(scope, { ...options, set, privateData: true });
  const { node, clock, accounts } = whole;
  const [owner, one, dex] = accounts;
  const byType = new Map<number, Tx>();
  async function mine(...more: readonly Tx[]): Promise<void> {
    await clock.advance(ROUND_MS);
    await whole.produceBlock(...more);
    const { height } = node.blockchain.tip();
    for (const tx of transactionsAt(node.blockchain.view, height)) byType.set(tx.type, tx);
  }
  async function send(from: typeof owner, fields: TxFields): Promise<string> {
    return base58.encode((await whole.send(from, fields)).id);
  }
  const own = base58.encode(owner.publicKey);
  const results = [{ key: 'sum', type: 'integer', value: 5 }];

  for (const tx of transactionsAt(node.blockchain.view, 1)) byType.set(tx.type, tx);
  const gold = { name: 'Gold', description: 'an asset', quantity: 1000, decimals: 0 };
  const asset = await send(owner, { type: 3, version: 2, ...gold, reissuable: true, script: null });
  const permission = { type: 102, target: dex.text, opType: 'add', role: 'dex' };
  await send(owner, permission);
  const entries = ['integer', 'boolean', 'string'].map((type, i) => ({
    key: `${type} key`,
    type,
    value: [42, true, 'text'][i],
  }));
  await send(owner, { type: 12, data: entries, authorPublicKey: own });
  const alias = 'one-of-us';
  await send(one, { type: 10, version: 2, alias });
  const lease = await send(owner, { type: 8, version: 2, recipient: one.text, amount: 500 });
  const ended = await send(owner, { type: 8, version: 2, recipient: dex.text, amount: 7 });
  const targetPubKey = base58.encode(whole.newAccount('a newcomer').publicKey);
  await send(owner, { type: 111, targetPubKey, nodeName: 'second', opType: 'add' });
  const members = { recipients: [owner.text], owners: [owner.text] };
  const policy = await send(owner, {
    type: 112,
    policyName: 'papers',
    description: '',
    ...members,
  });
  await mine();

  const transferOf = { type: 4, version: 2, recipient: one.text, attachment: '' };
  const transfer = await send(owner, { ...transferOf, amount: 5, assetId: asset });
  await send(owner, { type: 5, version: 2, assetId: asset, quantity: 10, reissuable: true });
  await send(owner, { type: 6, version: 2, assetId: asset, amount: 3 });
  await send(owner, { type: 9, version: 2, leaseId: ended });
  const transfers = [one, dex].map((to) => ({ recipient: to.text, amount: 2 }));
  await send(owner, { type: 11, transfers, attachment: '', fee: 6_000_000 });
  await send(owner, { type: 14, assetId: asset, minSponsoredAssetFee: 10 });
  const change = { opType: 'add', recipients: [one.text], owners: [one.text] };
  await send(owner, { type: 113, policyId: policy, ...change });
  const terms = { asset, dex };
  await send(dex, {
    type: 7,
    version: 2,
    order1: orderJson(signedOrder(whole, one, 'buy', terms)),
    order2: orderJson(signedOrder(whole, owner, 'sell', terms)),
    price: PRICE,
    amount: 3,
    buyMatcherFee: 300,
    sellMatcherFee: 300,
  });
  const hash = createHash('sha256').update('hello').digest();
  await node.services.privacy!.send(
    {
      sender: owner.text,
      policyId: policy,
      info: { filename: 'a.txt', size: '5', timestamp: 1, author: 'me', comment: '' },
      data: Buffer.from('hello').toString('base64'),
      hash: base58.encode(hash),
    },
    true,
  );
  const creation = whole.make(owner, { type: 103, ...image, contractName: 'sum', params: [] });
  const contract = base58.encode(creation.id);
  const shown = (tx: Tx): unknown => txToJson(tx, whole.scheme);
  await mine(whole.make(owner, { type: 105, tx: shown(creation), results, fee: 0 }));

  const call = whole.make(owner, {
    type: 104,
    version: 2,
    contractId: contract,
    params: [],
    contractVersion: 1,
  });
  await mine(whole.make(owner, { type: 105, tx: shown(call), results, fee: 0 }));
  const gone = whole.make(owner, { type: 106, contractId: contract });
  await whole.node.pool.submit(gone);
  await mine();
  await mine();
  const waiting = await send(owner, { ...transferOf, amount: 9 });
  const ids = {
    asset,
    lease,
    policy,
    contract,
    call: base58.encode(call.id),
    transfer,
    waiting,
    hash: base58.encode(hash),
  };
  return { ...whole, ids, byType, alias };
}
