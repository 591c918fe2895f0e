/**
 * Transactions that a block must not hold, each with the reason. Each has exactly one fault, so
 * that the verdict is about that fault.
 */
import { base58 } from '../../src/base/base58.ts';
import { orderFromJson } from '../../src/tx/fields/order.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { genesis } from '../../src/tx/types/001-genesis.ts';
import { issue } from '../../src/tx/types/003-issue.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { burn } from '../../src/tx/types/006-burn.ts';
import { exchange } from '../../src/tx/types/007-exchange.ts';
import { lease } from '../../src/tx/types/008-lease.ts';
import { leaseCancel } from '../../src/tx/types/009-lease-cancel.ts';
import { createAlias } from '../../src/tx/types/010-create-alias.ts';
import { massTransfer } from '../../src/tx/types/011-mass-transfer.ts';
import { data } from '../../src/tx/types/012-data.ts';
import { setScript } from '../../src/tx/types/013-set-script.ts';
import { sponsorFee } from '../../src/tx/types/014-sponsor-fee.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { createContract } from '../../src/tx/types/103-create-contract.ts';
import { callContract } from '../../src/tx/types/104-call-contract.ts';
import { executedContract } from '../../src/tx/types/105-executed-contract.ts';
import { disableContract } from '../../src/tx/types/106-disable-contract.ts';
import { registerNode } from '../../src/tx/types/111-register-node.ts';
import { createPolicy } from '../../src/tx/types/112-create-policy.ts';
import { updatePolicy } from '../../src/tx/types/113-update-policy.ts';
import { policyDataHash } from '../../src/tx/types/114-policy-data-hash.ts';
import { type Account, account, FUNDS, miners, scheme, users } from '../chain/chain-harness.ts';
import { executed, type Scene, sign } from './actions.ts';

const HOUR = 3_600_000;
const [alice] = users;
const [miner] = miners as [Account, ...Account[]];

/** Somebody with funds and without any role; the sequence gives it the funds. */
export const stranger = account('a stranger with funds');

export interface FaultyTx {
  readonly tx: Tx;
  readonly error: RegExp;
}

/** Undefined where the chain has not what it takes. */
type Fault = (scene: Scene, parentTime: number) => FaultyTx | undefined;

const to = ({ address }: Account) => ({ kind: 'address', bytes: address }) as const;
const pay = { recipient: to(alice), amount: 1n };
const noId = new Uint8Array(32).fill(7);
const image = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
const lacks = (role: string) => new RegExp(`Has no active '${role}' role`);

export const faults: Readonly<Record<string, Fault>> = {
  'a genesis transaction': (scene) => ({
    tx: sign(scene, genesis, stranger, 1, { recipient: alice.address, amount: 1n }),
    error: /cannot appear in non-initial block/,
  }),
  'an issue without the role': (scene) => ({
    tx: sign(scene, issue, stranger, 2, {
      name: 'Gold',
      description: '',
      decimals: 0,
      quantity: 1n,
      reissuable: false,
      script: undefined,
    }),
    error: lacks('issuer'),
  }),
  'a transfer of more than there is': (scene) => ({
    tx: sign(scene, transfer, stranger, 2, { ...pay, amount: FUNDS }),
    error: /unavailable funds/,
  }),
  'a transfer of an asset that nobody issued': (scene) => ({
    tx: sign(scene, transfer, stranger, 2, { ...pay, assetId: noId }),
    error: /unavailable funds/,
  }),
  'a transfer to nobody': (scene) => ({
    tx: sign(scene, transfer, stranger, 2, {
      ...pay,
      recipient: { kind: 'alias', name: 'nobody' },
    }),
    error: /alias/i,
  }),
  'a fee below the least': (scene) => ({
    tx: sign(scene, transfer, stranger, 2, { ...pay, fee: transfer.fee! - 1n }),
    error: /does not exceed minimal value of '1000000'/,
  }),
  'a fee in an asset that pays none': (scene) => ({
    tx: sign(scene, transfer, stranger, 2, { ...pay, feeAssetId: noId, fee: 0n }),
    error: /does not exist, cannot be used to pay fees/,
  }),
  'a transaction of the far future': (scene) => ({
    tx: sign(scene, transfer, stranger, 2, { ...pay, timestamp: scene.now + 1.5 * HOUR + 1 }),
    error: /is from far future/,
  }),
  'a transaction of long ago': (scene, parentTime) => ({
    tx: sign(scene, transfer, stranger, 2, { ...pay, timestamp: parentTime - 2 * HOUR - 1 }),
    error: /is too old/,
  }),
  'a version whose feature is not active': (scene) => ({
    tx: sign(scene, transfer, stranger, 3, { ...pay, atomicBadge: undefined }),
    error: /Blockchain feature 'Atomic transactions' .* has not been activated yet/,
  }),
  'a forged signature': (scene) => ({
    tx: sign(scene, transfer, { ...stranger, sign: alice.sign }, 2, pay),
    error: /doesn't validate as signature/,
  }),
  'a forged signature of the older style': (scene) => ({
    tx: sign(scene, transfer, { ...stranger, sign: alice.sign }, 1, pay),
    error: /invalid signature/,
  }),
  'ashes of an asset that nobody issued': (scene) => ({
    tx: sign(scene, burn, stranger, 2, { assetId: noId, amount: 1n }),
    error: /Referenced assetId not found/,
  }),
  'a trade by somebody who is no exchange': (scene) => trade(scene, alice.sign, lacks('dex')),
  'a trade with a forged order': (scene) =>
    trade(scene, stranger.sign, /doesn't validate as signature/),
  'a lease to oneself': (scene) => ({
    tx: sign(scene, lease, stranger, 2, { recipient: to(stranger), amount: 1n }),
    error: /Cannot lease to self/,
  }),
  'an end of no lease': (scene) => ({
    tx: sign(scene, leaseCancel, stranger, 2, { leaseId: noId }),
    error: /Related LeaseTransaction not found/,
  }),
  "somebody else's alias": (scene) => {
    const alias = scene.aliases[0];
    if (alias === undefined) return undefined;
    // The id of the type is made of the alias alone.
    const tx = sign(scene, createAlias, stranger, 2, { alias });
    return { tx, error: /is already in the state on a height of/ };
  },
  'many transfers of more than there is': (scene) => ({
    tx: sign(scene, massTransfer, stranger, 1, {
      transfers: [1, 2].map(() => ({ recipient: to(alice), amount: FUNDS / 2n })),
    }),
    error: /unavailable funds/,
  }),
  'data at the cost of another': (scene) => ({
    tx: sign(scene, data, stranger, 1, { authorPublicKey: alice.publicKey, data: [] }),
    error: /The author of the data must be its sender/,
  }),
  'a script for an account with roles': (scene) => ({
    tx: sign(scene, setScript, miner, 1, { script: undefined, name: 'none', description: '' }),
    error: /Script cannot be assigned to an account with a role other than contract_developer/,
  }),
  "sponsorship of another's asset": (scene) => {
    const [asset] = scene.assets;
    if (asset === undefined) return undefined;
    const input = { assetId: asset.id, minSponsoredAssetFee: 5n };
    const tx = sign(scene, sponsorFee, stranger, 1, input);
    return { tx, error: /Asset was issued by other address/ };
  },
  'a role given by nobody': (scene) => ({
    tx: sign(scene, permit, stranger, 1, {
      target: to(stranger),
      opType: 'add',
      role: 'miner',
      dueTimestamp: undefined,
    }),
    error: lacks('permissioner'),
  }),
  'a contract that was not executed': (scene) => ({
    tx: sign(scene, createContract, stranger, 1, { ...image, contractName: 'sum', params: [] }),
    error: /type = 103 wasn't executed/,
  }),
  'a contract without the role': (scene) => {
    const tx = sign(scene, createContract, stranger, 1, {
      ...image,
      contractName: 's',
      params: [],
    });
    return { tx: executed(scene, tx, []), error: lacks('contract_developer') };
  },
  'results by somebody else': (scene) => {
    const [contract] = scene.contracts;
    if (contract === undefined) return undefined;
    const { id: contractId, version: contractVersion } = contract;
    const call = { contractId, params: [], contractVersion };
    const tx = sign(scene, callContract, stranger, 2, call);
    const by = sign(scene, executedContract, stranger, 1, { tx, results: [], fee: 0n });
    return { tx: by, error: /should be created only by block creator/ };
  },
  'results of a run that its sender did not sign': (scene) => {
    const forged = { ...stranger, sign: alice.sign };
    const creation = { ...image, contractName: 'sum', params: [] };
    const tx = executed(scene, sign(scene, createContract, forged, 1, creation), []);
    return { tx, error: /doesn't validate as signature/ };
  },
  'results of a call of nothing': (scene) => ({
    tx: executed(scene, callOfNothing(scene), []),
    error: /Contract '.*' is not found/,
  }),
  'an end of no contract': (scene) => ({
    tx: sign(scene, disableContract, stranger, 1, { contractId: noId }),
    error: /Contract '.*' is not found/,
  }),
  'a participant let in by nobody': (scene) => ({
    tx: sign(scene, registerNode, stranger, 1, {
      targetPubKey: stranger.publicKey,
      nodeName: 'a node',
      opType: 'add',
    }),
    error: lacks('connection_manager'),
  }),
  'a group without owners': (scene) => ({
    tx: sign(scene, createPolicy, stranger, 1, {
      policyName: 'papers',
      description: '',
      recipients: [],
      owners: [],
    }),
    error: /Policy without owners is invalid/,
  }),
  'a change of no group': (scene) => ({
    tx: sign(scene, updatePolicy, stranger, 1, {
      policyId: noId,
      opType: 'add',
      recipients: [],
      owners: [stranger.address],
    }),
    error: /Object with policyId = .* does not exist/,
  }),
  'data of no group': (scene) => ({
    tx: sign(scene, policyDataHash, stranger, 1, { policyId: noId, dataHash: noId }),
    error: /Object with policyId = .* does not exist/,
  }),
};

const callOfNothing = (scene: Scene): Tx =>
  sign(scene, callContract, stranger, 2, { contractId: noId, params: [], contractVersion: 1 });

/** Between alice, whose orders `signature` signs, and herself. */
function trade(scene: Scene, signature: Account['sign'], error: RegExp): FaultyTx | undefined {
  const [asset] = scene.assets;
  if (asset === undefined) return undefined;
  const order = (orderType: 'buy' | 'sell') => {
    const json = {
      version: 2,
      senderPublicKey: base58.encode(alice.publicKey),
      matcherPublicKey: base58.encode(stranger.publicKey),
      assetPair: { amountAsset: base58.encode(asset.id), priceAsset: null },
      orderType,
      amount: 100,
      price: 100_000_000n,
      timestamp: scene.now,
      expiration: scene.now + HOUR,
      matcherFee: 0,
    };
    const read = (proof: Uint8Array) =>
      orderFromJson({ ...json, proofs: [base58.encode(proof)] }, 'order', scheme);
    return read(signature(read(new Uint8Array(64)).body));
  };
  const orders = { order1: order('buy'), order2: order('sell') };
  const fees = { buyMatcherFee: 0n, sellMatcherFee: 0n };
  const terms = { orders, price: 100_000_000n, amount: 10n, ...fees };
  return { tx: sign(scene, exchange, stranger, 2, terms), error };
}
