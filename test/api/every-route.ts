/** Calls of every route with arguments that a populated node knows. */

import { createHash } from 'node:crypto';
import { common } from '../../src/api/encryption.ts';
import { base58 } from '../../src/base/base58.ts';
import { headerRowAt } from '../../src/chain/stored-blocks.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import type { Populated } from '../node/populated.ts';

export interface Call {
  /** Values of the path's parameters and its query. */
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: string;
  /** A text is sent as text/plain. */
  readonly body?: unknown;
  /** 200 unless said. */
  readonly status?: number;
  /** The answer must not be empty, or the schema of what it holds is not looked at. */
  readonly empty?: true;
}

export type Calls = Readonly<Record<string, readonly Call[]>>;

const REFUSED = 400;

/** What every route is asked, and how it answers on a node without network. */
export async function everyRoute(of: Populated): Promise<Calls> {
  const { ids, accounts, node, clock } = of;
  const [owner, one] = accounts;
  const address = owner.text;
  const height = node.blockchain.tip().height;
  const signature = base58.encode(node.blockchain.tip().id);
  const first = base58.encode(headerRowAt(node.blockchain.view, 1)!.header.signature);
  const publicKey = base58.encode(owner.publicKey);
  const timestamp = clock.now();
  const fields = { type: 4, version: 2, sender: address, recipient: one.text, amount: 1 };
  const unsigned = { ...fields, attachment: '' };
  const signed = txToJson(of.transfer(owner, one, 3), of.scheme);
  const contractId = ids.contract;
  const policyId = ids.policy;
  const hash = ids.hash;
  const info = { filename: '', size: '2', timestamp: 1, author: '', comment: '' };
  const hi = createHash('sha256').update('hi').digest('hex');
  const data = { sender: address, policyId, info, data: 'aGk=', hash: hi };
  const toOwner = await common(
    { address: owner.address, password: undefined },
    [owner.publicKey],
    new Uint8Array(),
    node.services,
  );
  const encryption = { sender: address, encryptionText: 'x', recipientsPublicKeys: [publicKey] };
  const known = [...of.byType.values()].map((tx) => ({ path: { id: base58.encode(tx.id) } }));
  const range = { from: 1, to: height };
  return {
    'GET /transactions/info/{id}': known,
    'GET /transactions/address/{address}/limit/{limit}': [
      { path: { address, limit: 100 } },
      { path: { address, limit: 2 }, query: `?after=${ids.transfer}` },
    ],
    'GET /transactions/unconfirmed': [{}],
    'GET /transactions/unconfirmed/size': [{}],
    'GET /transactions/unconfirmed/info/{id}': [{ path: { id: ids.waiting } }],
    'POST /transactions/calculateFee': [{ body: { ...unsigned, senderPublicKey: publicKey } }],
    'POST /transactions/sign': [{ body: unsigned }],
    'POST /transactions/signAndBroadcast': [{ body: unsigned }],
    'POST /transactions/broadcast': [{ body: signed }, { body: { type: 4 }, status: REFUSED }],
    'GET /addresses': [{}],
    'GET /addresses/seq/{from}/{to}': [{ path: { from: 0, to: 2 } }],
    'GET /addresses/balance/{address}': [{ path: { address } }],
    'GET /addresses/balance/{address}/{confirmations}': [
      { path: { address, confirmations: 2 } },
      { path: { address, confirmations: 100_001 }, status: REFUSED },
    ],
    'GET /addresses/effectiveBalance/{address}': [{ path: { address } }],
    'GET /addresses/effectiveBalance/{address}/{confirmations}': [
      { path: { address, confirmations: 2 } },
    ],
    'GET /addresses/balance/details/{address}': [{ path: { address } }],
    'POST /addresses/balance/details': [{ body: { addresses: [address, one.text] } }],
    'GET /addresses/generatingBalance/{address}/at/{height}': [{ path: { address, height } }],
    'GET /addresses/scriptInfo/{address}': [{ path: { address } }],
    'POST /addresses/sign/{address}': [{ path: { address }, body: { message: 'x' } }],
    'POST /addresses/signText/{address}': [{ path: { address }, body: { message: 'x' } }],
    'POST /addresses/verify/{address}': [
      { path: { address }, body: { message: '2g', signature, publickey: publicKey } },
    ],
    'POST /addresses/verifyText/{address}': [
      { path: { address }, body: { message: 'x', signature, publicKey } },
    ],
    'GET /addresses/validate/{addressOrAlias}': [
      { path: { addressOrAlias: address } },
      { path: { addressOrAlias: 'nobody' } },
    ],
    'POST /addresses/validateMany': [{ body: { addressesOrAliases: [address, 'nobody'] } }],
    'GET /addresses/publicKey/{publicKey}': [{ path: { publicKey } }],
    'GET /addresses/info/{address}': [{ path: { address } }],
    'GET /addresses/data/{address}': [{ path: { address } }],
    'GET /addresses/data/{address}/{key}': [{ path: { address, key: 'integer key' } }],
    'GET /alias/by-alias/{alias}': [{ path: { alias: of.alias } }],
    'GET /alias/by-address/{address}': [{ path: { address: one.text } }],
    'GET /contracts': [{}],
    'POST /contracts': [{ body: { contracts: [contractId] } }],
    'GET /contracts/status/{id}': [{ path: { id: ids.call }, status: 404 }],
    'GET /contracts/executed-tx-for/{id}': [{ path: { id: ids.call } }],
    'GET /contracts/info/{contractId}': [{ path: { contractId } }],
    'GET /contracts/{contractId}': [{ path: { contractId } }],
    'POST /contracts/{contractId}': [{ path: { contractId }, body: { keys: ['sum'] } }],
    'GET /contracts/{contractId}/{key}': [{ path: { contractId, key: 'sum' } }],
    'GET /privacy/policies': [{}],
    'GET /privacy/{policyId}': [{ path: { policyId } }],
    'GET /privacy/{policyId}/recipients': [{ path: { policyId } }],
    'GET /privacy/{policyId}/owners': [{ path: { policyId } }],
    'GET /privacy/{policyId}/hashes': [{ path: { policyId } }],
    // Only stored and signed, so that it can be repeated.
    'POST /privacy/sendData': [
      { body: data, query: '?broadcast=false' },
      { body: { ...data, hash }, status: REFUSED },
    ],
    'GET /privacy/getData/{hash}': [{ path: { hash } }],
    'GET /privacy/getInfo/{hash}': [{ path: { hash } }],
    'GET /privacy/{policyId}/getData/{hash}': [{ path: { policyId, hash } }],
    'GET /privacy/{policyId}/getInfo/{hash}': [{ path: { policyId, hash } }],
    'POST /privacy/forceSync': [{ body: {} }],
    'GET /privacy/forceSync/{policyId}': [{ path: { policyId } }],
    'POST /peers/connect': [{ body: { host: '127.0.0.1', port: 1 }, status: REFUSED }],
    'GET /peers/connected': [{}],
    'GET /peers/all': [{}],
    'GET /peers/suspended': [{ empty: true }],
    'GET /peers/blacklisted': [{ empty: true }],
    'POST /peers/clearblacklist': [{}],
    'POST /peers/identity': [{ body: { address, signature }, status: REFUSED }],
    'GET /peers/hostname/{address}': [{ path: { address } }],
    'GET /peers/allowedNodes': [{}],
    'GET /assets/balance/{address}': [{ path: { address } }],
    'GET /assets/balance/{address}/{assetId}': [{ path: { address, assetId: ids.asset } }],
    'POST /assets/balance': [{ body: { addresses: [address, one.text] } }],
    'GET /assets/details/{assetId}': [{ path: { assetId: ids.asset } }],
    'GET /assets/{assetId}/distribution': [{ path: { assetId: ids.asset } }],
    'GET /assets/{assetId}/distribution/{height}/limit/{limit}': [
      { path: { assetId: ids.asset, height: height - 1, limit: 1 } },
      { path: { assetId: ids.asset, height: 3, limit: 10 }, query: `?after=${address}` },
    ],
    'GET /blocks/height': [{}],
    'GET /blocks/height/{signature}': [{ path: { signature } }],
    'GET /blocks/first': [{}],
    'GET /blocks/last': [{}],
    'GET /blocks/at/{height}': Array.from({ length: height }, (_, i) => ({
      path: { height: i + 1 },
    })),
    'GET /blocks/seq/{from}/{to}': [{ path: range }],
    'GET /blocks/seqext/{from}/{to}': [{ path: range }],
    'GET /blocks/signature/{signature}': [{ path: { signature } }],
    'GET /blocks/address/{address}/{from}/{to}': [{ path: { address, ...range } }],
    'GET /blocks/child/{signature}': [{ path: { signature: first } }],
    'GET /blocks/headers/at/{height}': [{ path: { height } }],
    'GET /blocks/headers/last': [{}],
    'GET /blocks/headers/seq/{from}/{to}': [{ path: range }],
    'POST /utils/hash/fast': [{ body: 'x' }],
    'POST /utils/hash/secure': [{ body: 'x' }],
    'GET /utils/seed': [{}],
    'GET /utils/seed/{length}': [{ path: { length: 5 } }],
    'POST /utils/script/compile': [{ body: 'true', status: REFUSED }],
    'POST /utils/script/estimate': [{ body: 'AQa3b8tH', status: REFUSED }],
    'GET /utils/time': [{}],
    'POST /utils/reload-wallet': [{}],
    'GET /consensus/algo': [{}],
    'GET /consensus/settings': [{}],
    'GET /consensus/minersAtHeight/{height}': [{ path: { height } }],
    'GET /consensus/miners/{timestamp}': [{ path: { timestamp } }],
    'GET /consensus/bannedMiners/{height}': [{ path: { height } }],
    'GET /consensus/basetarget': [{ status: REFUSED }],
    'GET /consensus/basetarget/{blockId}': [{ path: { blockId: signature }, status: REFUSED }],
    'GET /consensus/generatingbalance/{address}': [{ path: { address } }],
    'GET /consensus/generationsignature': [{ status: REFUSED }],
    'GET /consensus/generationsignature/{blockId}': [
      { path: { blockId: signature }, status: REFUSED },
    ],
    'GET /node/config': [{}],
    'GET /node/version': [{}],
    'GET /node/status': [{}],
    'GET /node/owner': [{}],
    'POST /crypto/encryptSeparate': [{ body: encryption }],
    'POST /crypto/encryptCommon': [{ body: encryption }],
    'POST /crypto/decrypt': [
      {
        body: {
          recipient: address,
          encryptedText: Buffer.from(toOwner.sealed).toString('base64'),
          senderPublicKey: publicKey,
          wrappedKey: base58.encode(toOwner.wrappedKeys[0]!),
        },
      },
    ],
    'GET /permissions/{address}': [{ path: { address } }],
    'GET /permissions/{address}/at/{timestamp}': [{ path: { address, timestamp } }],
    'POST /permissions/addresses': [{ body: { addresses: [address], timestamp } }],
    'GET /activation/status': [{}],
    'GET /leasing/active/{address}': [{ path: { address } }],
    'GET /health/live': [{}],
    'GET /health/ready': [{}, { query: '?minPeers=5', status: 503 }],
    // The last one: the node says goodbye.
    'POST /node/stop': [{}],
  };
}

/** Routes that answer otherwise under proof of stake. */
export const OF_STAKE: readonly string[] = [
  'GET /consensus/basetarget',
  'GET /consensus/basetarget/{blockId}',
  'GET /consensus/generationsignature',
  'GET /consensus/generationsignature/{blockId}',
  'GET /blocks/last',
  'GET /blocks/headers/last',
  'GET /consensus/algo',
  'GET /consensus/settings',
  'GET /node/config',
];
