/**
 * Transactions of every type that a block may hold, made for a chain of the chain harness: mostly
 * ones that its rules accept. Objects that a scene knows may have been rolled back meanwhile, so
 * the caller tries the transactions and leaves out the refused ones.
 */
import { base58 } from '../../src/base/base58.ts';
import { latin1 } from '../../src/base/bytes.ts';
import { orderFromJson } from '../../src/tx/fields/order.ts';
import type { Fields, Tx, TxType } from '../../src/tx/transaction.ts';
import { issue } from '../../src/tx/types/003-issue.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { reissue } from '../../src/tx/types/005-reissue.ts';
import { burn } from '../../src/tx/types/006-burn.ts';
import { exchange } from '../../src/tx/types/007-exchange.ts';
import { lease } from '../../src/tx/types/008-lease.ts';
import { leaseCancel } from '../../src/tx/types/009-lease-cancel.ts';
import { createAlias } from '../../src/tx/types/010-create-alias.ts';
import { massTransfer } from '../../src/tx/types/011-mass-transfer.ts';
import { data } from '../../src/tx/types/012-data.ts';
import { setScript } from '../../src/tx/types/013-set-script.ts';
import { sponsorFee } from '../../src/tx/types/014-sponsor-fee.ts';
import { setAssetScript } from '../../src/tx/types/015-set-asset-script.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { createContract } from '../../src/tx/types/103-create-contract.ts';
import { callContract } from '../../src/tx/types/104-call-contract.ts';
import { executedContract } from '../../src/tx/types/105-executed-contract.ts';
import { disableContract } from '../../src/tx/types/106-disable-contract.ts';
import { updateContract } from '../../src/tx/types/107-update-contract.ts';
import { registerNode } from '../../src/tx/types/111-register-node.ts';
import { createPolicy } from '../../src/tx/types/112-create-policy.ts';
import { updatePolicy } from '../../src/tx/types/113-update-policy.ts';
import { policyDataHash } from '../../src/tx/types/114-policy-data-hash.ts';
import {
  type Account,
  miners,
  type Signer,
  scheme,
  signed,
  users,
} from '../chain/chain-harness.ts';
import type { Rng } from './random.ts';
import { compiled } from './scripts.ts';

const WEST = 100_000_000n;
const HOUR = 3_600_000;
const EACH_TRANSFER_FEE = 10_000_000n;
const everybody: readonly Account[] = [...miners, ...users];

/** What came to be on the chain: who may do what with which id. */
export interface Scene {
  readonly rng: Rng;
  /** Time of the block in the making, and who makes it. */
  now: number;
  generator: Signer;
  readonly assets: { readonly id: Uint8Array; readonly issuer: Account }[];
  readonly leases: { readonly id: Uint8Array; readonly lessor: Account }[];
  readonly aliases: string[];
  readonly policies: { readonly id: Uint8Array; readonly owner: Account }[];
  readonly contracts: { readonly id: Uint8Array; readonly creator: Account; version: number }[];
  /** Accounts and assets with scripts, by key and id: their transactions cost more. */
  readonly scripted: Set<string>;
  serial: number;
}

export const newScene = (rng: Rng): Scene => ({
  rng,
  now: 0,
  generator: everybody[0]!,
  assets: [],
  leases: [],
  aliases: [],
  policies: [],
  contracts: [],
  scripted: new Set(),
  serial: 0,
});

export interface Attempt {
  readonly tx: Tx;
  /** Tells the scene that the transaction was accepted. */
  readonly accepted?: () => void;
}

/** Undefined where the scene has not what it takes. */
export type Action = (scene: Scene) => Attempt | undefined;

const to = ({ address }: Account) => ({ kind: 'address', bytes: address }) as const;

/** Signed, with the least fee; no two transactions of a scene have the same time. */
export function sign<F extends Fields>(
  scene: Scene,
  def: TxType<F>,
  from: Signer,
  version: number,
  input: object,
): Tx {
  // Before and after the block's own time, as clients send them.
  const timestamp = scene.now - 500 + (scene.serial++ % 1000);
  const common = {
    chainId: scheme.chainId,
    timestamp,
    fee: def.fee === undefined ? undefined : def.fee + extraFee(scene, from, input),
    attachment: new Uint8Array(0),
  };
  return signed(def, from, { ...common, ...input } as never, version);
}

const SCRIPT_EXTRA = 400_000n;

/** What the scripts add to the least fee, as far as the scene knows. */
function extraFee({ scripted }: Scene, from: Signer, input: object): bigint {
  const { assetId } = input as { readonly assetId?: Uint8Array };
  const judges = [from.publicKey, ...(assetId === undefined ? [] : [assetId])];
  return SCRIPT_EXTRA * BigInt(judges.filter((of) => scripted.has(latin1(of))).length);
}

/** The key signs as before, but not at every height. */
const OFTEN_SIGNED = compiled(`
let signed = sigVerify(tx.bodyBytes, tx.proofs[0], tx.senderPublicKey)
match tx {
  case s: SetScriptTransaction => signed
  case _ => signed && height % 7 != 0
}`);

const SOME_TRANSFERS = compiled(
  `
match tx {
  case t: TransferTransaction => t.amount % 5 != 0
  case m: MassTransferTransaction => m.transferCount < 6
  case e: ExchangeTransaction => e.buyOrder.amount == 1000 && e.amount > 150
  case _ => true
}`,
  'asset',
);

const anybody = ({ rng }: Scene): Account => rng.pick(everybody);
const some = <T>({ rng }: Scene, items: readonly T[]): T | undefined =>
  items.length === 0 ? undefined : rng.pick(items);
const recipient = (scene: Scene) => {
  const name = scene.rng.chance(3) ? some(scene, scene.aliases) : undefined;
  return name === undefined ? to(anybody(scene)) : ({ kind: 'alias', name } as const);
};
const upTo = ({ rng }: Scene, most: number): bigint => BigInt(rng.between(1, most));

/** By the number of the type that they make. */
export const actions: Readonly<Record<number, Action>> = {
  3(scene) {
    const issuer = anybody(scene);
    const name = `Gold${scene.serial}`;
    const script = scene.rng.chance(3) ? SOME_TRANSFERS : undefined;
    const about = { name, description: 'an asset', decimals: 2, script };
    const tx = sign(scene, issue, issuer, 2, { ...about, quantity: 1_000_000n, reissuable: true });
    const accepted = (): void => {
      scene.assets.push({ id: tx.id, issuer });
      if (script !== undefined) scene.scripted.add(latin1(tx.id));
    };
    return { tx, accepted };
  },
  4(scene) {
    const asset = scene.rng.chance(2) ? some(scene, scene.assets) : undefined;
    const from = asset !== undefined && scene.rng.chance(2) ? asset.issuer : anybody(scene);
    const feeAsset = scene.rng.chance(4) ? some(scene, scene.assets) : undefined;
    const amount = upTo(scene, asset === undefined ? 1_000_000_000 : 2000);
    const input = { recipient: recipient(scene), amount, assetId: asset?.id };
    // Half a native unit each, if it is sponsored at all.
    const payment = feeAsset === undefined ? {} : { feeAssetId: feeAsset.id, fee: 5000n };
    return { tx: sign(scene, transfer, from, scene.rng.between(1, 2), { ...input, ...payment }) };
  },
  5(scene) {
    const asset = some(scene, scene.assets);
    if (asset === undefined) return undefined;
    const reissuable = !scene.rng.chance(4);
    const input = { assetId: asset.id, quantity: upTo(scene, 1000), reissuable };
    return { tx: sign(scene, reissue, asset.issuer, 2, input) };
  },
  6(scene) {
    const asset = some(scene, scene.assets);
    if (asset === undefined) return undefined;
    const from = scene.rng.chance(2) ? asset.issuer : anybody(scene);
    return { tx: sign(scene, burn, from, 2, { assetId: asset.id, amount: upTo(scene, 1000) }) };
  },
  7(scene) {
    const asset = some(scene, scene.assets);
    if (asset === undefined) return undefined;
    const [dex, buyer, seller] = [anybody(scene), anybody(scene), asset.issuer];
    const order = (of: Account, orderType: 'buy' | 'sell') => {
      const json = {
        version: 2,
        senderPublicKey: base58.encode(of.publicKey),
        matcherPublicKey: base58.encode(dex.publicKey),
        assetPair: { amountAsset: base58.encode(asset.id), priceAsset: null },
        orderType,
        amount: 1000,
        price: 2n * WEST,
        timestamp: scene.now + scene.serial++,
        expiration: scene.now + HOUR,
        matcherFee: 10_000,
      };
      const read = (signature: Uint8Array) =>
        orderFromJson({ ...json, proofs: [base58.encode(signature)] }, 'order', scheme);
      return read(of.sign(read(new Uint8Array(64)).body));
    };
    const orders = { order1: order(buyer, 'buy'), order2: order(seller, 'sell') };
    const fees = { buyMatcherFee: 1000n, sellMatcherFee: 1000n };
    const trade = { orders, price: 2n * WEST, amount: upTo(scene, 900) + 100n, ...fees };
    const fee = (exchange.fee ?? 0n) + extraFee(scene, dex, { assetId: asset.id });
    return { tx: sign(scene, exchange, dex, 2, { ...trade, fee }) };
  },
  8(scene) {
    const lessor = anybody(scene);
    const amount = upTo(scene, 1_000_000_000);
    const tx = sign(scene, lease, lessor, 2, { recipient: recipient(scene), amount });
    return { tx, accepted: () => void scene.leases.push({ id: tx.id, lessor }) };
  },
  9(scene) {
    const one = some(scene, scene.leases);
    return one && { tx: sign(scene, leaseCancel, one.lessor, 2, { leaseId: one.id }) };
  },
  10(scene) {
    const alias = `alias-${scene.rng.below(40)}`;
    const tx = sign(scene, createAlias, anybody(scene), 2, { alias });
    return { tx, accepted: () => void scene.aliases.push(alias) };
  },
  11(scene) {
    const asset = scene.rng.chance(2) ? some(scene, scene.assets) : undefined;
    const transfers = Array.from({ length: scene.rng.below(8) }, () => ({
      recipient: recipient(scene),
      amount: upTo(scene, 50),
    }));
    const from = asset?.issuer ?? anybody(scene);
    // Enough also where a network asks for something for each transfer.
    const least = (massTransfer.fee ?? 0n) + EACH_TRANSFER_FEE * BigInt(transfers.length);
    const fee = least + extraFee(scene, from, { assetId: asset?.id });
    return { tx: sign(scene, massTransfer, from, 1, { assetId: asset?.id, transfers, fee }) };
  },
  12(scene) {
    const from = anybody(scene);
    const entry = { key: `key ${scene.rng.below(9)}`, type: 'integer', value: upTo(scene, 9999) };
    const text = { key: 'text', type: 'string', value: 'of an entry' };
    const input = { authorPublicKey: from.publicKey, data: [text, entry] };
    return { tx: sign(scene, data, from, 1, input) };
  },
  13(scene) {
    // The first user and the miners stay without, since other actions need them as they are.
    const from = scene.rng.pick(users.slice(1));
    const name = latin1(from.publicKey);
    const script = scene.scripted.has(name) ? undefined : OFTEN_SIGNED;
    const input = { script, name: 'a script', description: '' };
    const accepted = (): void => {
      if (script === undefined) scene.scripted.delete(name);
      else scene.scripted.add(name);
    };
    return { tx: sign(scene, setScript, from, 1, input), accepted };
  },
  14(scene) {
    const asset = some(scene, scene.assets);
    if (asset === undefined) return undefined;
    const minSponsoredAssetFee = scene.rng.chance(4) ? 0n : 500n;
    const input = { assetId: asset.id, minSponsoredAssetFee };
    return { tx: sign(scene, sponsorFee, asset.issuer, 1, input) };
  },
  15(scene) {
    const guarded = scene.assets.filter(({ id }) => scene.scripted.has(latin1(id)));
    const asset = some(scene, guarded);
    if (asset === undefined) return undefined;
    const input = { assetId: asset.id, script: SOME_TRANSFERS };
    return { tx: sign(scene, setAssetScript, asset.issuer, 1, input) };
  },
  102(scene) {
    const opType = scene.rng.chance(3) ? 'remove' : 'add';
    const [role, target] = scene.rng.pick([
      ['miner', scene.rng.pick(miners)],
      ['banned', scene.rng.pick(users)],
      ['issuer', anybody(scene)],
      ['dex', anybody(scene)],
      ['dex', anybody(scene)],
      ['contract_developer', anybody(scene)],
      ['contract_developer', anybody(scene)],
      ['permissioner', anybody(scene)],
    ] as const);
    const ends = opType === 'add' && role !== 'miner' && scene.rng.chance(4);
    const dueTimestamp = ends ? scene.now + scene.rng.between(1, 10 * HOUR) : undefined;
    const input = { target: to(target), opType, role, dueTimestamp };
    return { tx: sign(scene, permit, scene.rng.pick(miners), 1, input) };
  },
  103(scene) {
    const creator = anybody(scene);
    const image = { image: 'sum:1', imageHash: 'ab'.repeat(32) };
    const tx = sign(scene, createContract, creator, 1, {
      ...image,
      contractName: 'sum',
      params: [],
    });
    const learn = () => void scene.contracts.push({ id: tx.id, creator, version: 1 });
    return { tx: executed(scene, tx, [integer('sum', 0n)]), accepted: learn };
  },
  104(scene) {
    const contract = some(scene, scene.contracts);
    if (contract === undefined) return undefined;
    const { id: contractId, version: contractVersion } = contract;
    const params = [integer('value', upTo(scene, 100))];
    const tx = sign(scene, callContract, anybody(scene), 2, {
      contractId,
      params,
      contractVersion,
    });
    return { tx: executed(scene, tx, [integer('sum', upTo(scene, 1000))]) };
  },
  106(scene) {
    const contract = scene.rng.chance(3) ? some(scene, scene.contracts) : undefined;
    if (contract === undefined) return undefined;
    const { id: contractId, creator } = contract;
    const accepted = () => void scene.contracts.splice(scene.contracts.indexOf(contract), 1);
    return { tx: sign(scene, disableContract, creator, 1, { contractId }), accepted };
  },
  107(scene) {
    const contract = some(scene, scene.contracts);
    if (contract === undefined) return undefined;
    const image = { image: 'sum:2', imageHash: 'cd'.repeat(32) };
    const tx = sign(scene, updateContract, contract.creator, 1, {
      ...image,
      contractId: contract.id,
    });
    return { tx: executed(scene, tx, []), accepted: () => void contract.version++ };
  },
  111(scene) {
    const opType = scene.rng.chance(3) ? 'remove' : 'add';
    const { publicKey: targetPubKey } = opType === 'add' ? anybody(scene) : scene.rng.pick(users);
    const input = { targetPubKey, nodeName: opType === 'add' ? 'a node' : '', opType };
    return { tx: sign(scene, registerNode, scene.rng.pick(miners), 1, input) };
  },
  112(scene) {
    const owner = anybody(scene);
    const recipients = [...new Set([scene.rng.pick(miners), scene.rng.pick(miners)])];
    const tx = sign(scene, createPolicy, owner, 1, {
      policyName: `papers ${scene.serial}`,
      description: '',
      recipients: recipients.map(({ address }) => address),
      owners: [owner.address],
    });
    return { tx, accepted: () => void scene.policies.push({ id: tx.id, owner }) };
  },
  113(scene) {
    const policy = some(scene, scene.policies);
    if (policy === undefined) return undefined;
    const { id: policyId, owner } = policy;
    const opType = scene.rng.chance(2) ? 'remove' : 'add';
    const recipients = [anybody(scene).address];
    const owners = opType === 'add' && scene.rng.chance(2) ? [anybody(scene).address] : [];
    return { tx: sign(scene, updatePolicy, owner, 1, { policyId, opType, recipients, owners }) };
  },
  114(scene) {
    const policy = some(scene, scene.policies);
    if (policy === undefined) return undefined;
    const input = { policyId: policy.id, dataHash: scene.rng.bytes(32) };
    return { tx: sign(scene, policyDataHash, scene.rng.pick(miners), 1, input) };
  },
};

const integer = (key: string, value: bigint) => ({ key, type: 'integer', value }) as const;

/** The result of a run, made by the generator of the block. */
export const executed = (scene: Scene, tx: Tx, results: readonly object[]): Tx =>
  sign(scene, executedContract, scene.generator, 1, { tx, results, fee: 0n });
