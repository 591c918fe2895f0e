/**
 * Valid transactions of every layout. Values come from the codec of each field, so a new field
 * without a generator fails the first test that meets it.
 */
import { base58 } from '../../src/base/base58.ts';
import { I64_MAX } from '../../src/base/int.ts';
import type { Codec } from '../../src/codec/codec.ts';
import { bool, i64 } from '../../src/codec/primitives.ts';
import { buildTx, isSigned } from '../../src/tx/assemble.ts';
import { contractName, image, imageHash } from '../../src/tx/fields/contract-image.ts';
import { dataEntries, type Entry, params, results } from '../../src/tx/fields/entries.ts';
import {
  apiVersion,
  atomicBadge,
  payments,
  validationPolicy,
  validationProofs,
} from '../../src/tx/fields/extensions.ts';
import { dueTimestamp, opType, ROLES, role } from '../../src/tx/fields/permission.ts';
import { members } from '../../src/tx/fields/policy-members.ts';
import { alias, recipient } from '../../src/tx/fields/recipient.ts';
import {
  address,
  assetId,
  attachment,
  chainId,
  fee,
  feeAssetId,
  leaseId,
  optionalAssetId,
  publicKey,
  script,
  timestamp,
} from '../../src/tx/fields/shared.ts';
import { contractId, policyId } from '../../src/tx/fields/sized-id.ts';
import { types } from '../../src/tx/registry.ts';
import type { Layout, Tx, TxType } from '../../src/tx/transaction.ts';
import { addresses, publicKeys, scheme } from './network.ts';
import { orderPair } from './orders.ts';
import type { Rng } from './random.ts';
import { sampleScripts } from './scripts.ts';

type Make = (rng: Rng) => unknown;

const TIME = 1_574_240_400_000;
// Sums of amount and fee, or of a hundred transfers and a fee, stay within 64 bits.
const AMOUNT_MAX = I64_MAX / 256n;
const ALIAS_CHARS = [...'-.0123456789@_abcdefghijklmnopqrstuvwxyz'];

const anyTime: Make = (rng) => (rng.chance(20) ? rng.pick([0, 2 ** 53 - 1]) : TIME + rng.u32());
const key: Make = (rng) => rng.pick(publicKeys);
const id: Make = (rng) => rng.bytes(32);
const maybe =
  (make: Make): Make =>
  (rng) =>
    rng.chance(2) ? undefined : make(rng);
const positive: Make = (rng) => rng.upTo(AMOUNT_MAX - 1n) + 1n;
const someAddress: Make = (rng) => rng.pick(addresses);
const aliasName = (rng: Rng): string => {
  const length = rng.between(4, 30);
  return Array.from({ length }, () => rng.pick(ALIAS_CHARS)).join('');
};
const someRecipient: Make = (rng) =>
  rng.chance(4)
    ? { kind: 'alias', name: aliasName(rng) }
    : { kind: 'address', bytes: rng.pick(addresses) };

function entries(rng: Rng, max: number): Entry[] {
  const keys = new Set(rng.list(max, () => `${rng.text(20)}${rng.below(1000)}`));
  return [...keys].map((name): Entry => {
    const type = rng.pick(['integer', 'boolean', 'binary', 'string'] as const);
    if (type === 'integer') return { key: name, type, value: rng.i64() };
    if (type === 'boolean') return { key: name, type, value: rng.chance(2) };
    if (type === 'binary') return { key: name, type, value: rng.bytes(rng.below(50)) };
    return { key: name, type, value: rng.text(50) };
  });
}

/** By codec: one line serves every type that has the field. */
const byCodec = new Map<Codec<never>, Make>([
  [publicKey, key],
  [address, someAddress],
  [recipient, someRecipient],
  [alias, aliasName],
  [assetId, id],
  [optionalAssetId, maybe(id)],
  [feeAssetId, maybe(id)],
  [leaseId, id],
  [contractId, id],
  [policyId, id],
  [timestamp, anyTime],
  [fee, (rng) => rng.upTo(AMOUNT_MAX)],
  [i64, positive],
  [bool, (rng) => rng.chance(2)],
  [chainId, () => scheme.chainId],
  [attachment, (rng) => rng.bytes(rng.below(141))],
  [script, maybe((rng) => rng.pick(sampleScripts))],
  [opType, (rng) => rng.pick(['add', 'remove'])],
  [role, (rng) => rng.pick(ROLES)],
  [dueTimestamp, maybe(anyTime)],
  [image, (rng) => `registry/${rng.text(180)}:1`],
  [imageHash, (rng) => Buffer.from(rng.bytes(32)).toString('hex')],
  [contractName, (rng) => `c${rng.text(199)}`],
  [members, (rng) => rng.list(5, () => rng.pick(addresses))],
  [dataEntries, (rng) => entries(rng, rng.chance(20) ? 100 : 5)],
  [params, (rng) => entries(rng, 5)],
  [results, (rng) => entries(rng, 5)],
  [atomicBadge, maybe((rng) => ({ trustedSender: maybe(someAddress)(rng) }))],
  [apiVersion, (rng) => `${rng.below(65536)}.${rng.below(65536)}`],
  [payments, (rng) => rng.list(10, () => ({ assetId: maybe(id)(rng), amount: positive(rng) }))],
  [
    validationPolicy,
    (rng) =>
      rng.pick([
        { type: 'any' },
        { type: 'majority' },
        { type: 'majority_with_one_of', addresses: rng.list(3, () => rng.pick(addresses)) },
      ]),
  ],
  [
    validationProofs,
    (rng) => rng.list(3, () => ({ validatorPublicKey: key(rng), signature: rng.bytes(64) })),
  ],
] as [Codec<never>, Make][]);

/** Fields whose codec is private to one type. */
const byName: Readonly<Record<string, Make>> = {
  '1.amount': (rng) => rng.upTo(I64_MAX),
  '2.amount': positive,
  '2.fee': positive,
  '3.name': (rng) => `T${rng.pick(['abc', 'Token é', 'Asset-123456789'])}`,
  '3.description': (rng) => rng.text(200),
  '3.quantity': (rng) => rng.upTo(I64_MAX - 1n) + 1n,
  '3.decimals': (rng) => rng.below(9),
  '5.quantity': positive,
  '6.amount': (rng) => rng.upTo(I64_MAX),
  '8.leasedAsset': () => undefined,
  '8.amount': positive,
  '11.transfers': (rng) =>
    rng.list(rng.chance(20) ? 100 : 4, () => ({
      recipient: someRecipient(rng),
      amount: rng.upTo(AMOUNT_MAX),
    })),
  '13.name': (rng) => `s${rng.text(127)}`,
  '13.description': (rng) => rng.text(300),
  '14.minSponsoredAssetFee': (rng) => rng.upTo(I64_MAX),
  '14.isEnabled': (rng) => rng.chance(2),
  '15.script': (rng) => rng.pick(sampleScripts),
  '104.contractVersion': (rng) => rng.between(-(2 ** 31), 2 ** 31 - 1),
  '105.tx': (rng) => {
    const def = types.get(rng.pick([103, 104, 107]))!;
    return transactionOf(def, rng.pick(def.layouts), rng);
  },
  '105.resultsHash': id,
  '111.nodeName': (rng) => `n${rng.text(98)}`,
  '112.policyName': (rng) => rng.text(100),
  '112.description': (rng) => rng.text(300),
  '114.dataHash': id,
};

/** A valid transaction; its proofs are random bytes. */
export function transactionOf(def: TxType, layout: Layout, rng: Rng): Tx {
  const values =
    def.type === 7
      ? trade(layout, rng)
      : def.type === 120
        ? group(rng)
        : fieldsOf(def, layout, rng);
  const proofs = isSigned(layout.frame)
    ? [rng.bytes(64)]
    : layout.frame === 'genesis'
      ? []
      : rng.chance(3)
        ? rng.list(8, () => rng.bytes(rng.below(65)))
        : [rng.bytes(64)];
  return buildTx(def, layout, values, proofs, scheme);
}

function fieldsOf(def: TxType, layout: Layout, rng: Rng): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name of layout.fields) {
    const make = byName[`${def.type}.${name}`] ?? byCodec.get(def.fields[name] as Codec<never>);
    if (make === undefined) throw new Error(`no generator for ${def.type}.${name}`);
    values[name] ??= make(rng);
  }
  return values;
}

/** Types whose layouts with a badge a group may hold. */
const memberPlans = [...types.values()].flatMap((def) =>
  def.executable === true
    ? []
    : def.layouts
        .filter(({ fields }) => fields.includes('atomicBadge'))
        .map((layout) => ({ def, layout })),
);

/** Members by the sender of the group, and by others that trust it. */
function group(rng: Rng): Record<string, unknown> {
  const sender = rng.pick(publicKeys);
  const made = Array.from({ length: rng.between(2, 5) }, () => {
    const { def, layout } = rng.pick(memberPlans);
    const isOwn = def.id !== undefined || rng.chance(2);
    const trustedSender = isOwn && rng.chance(2) ? undefined : scheme.addressOf(sender);
    const values = { ...fieldsOf(def, layout, rng), atomicBadge: { trustedSender } };
    const own = isOwn ? { senderPublicKey: sender } : {};
    return buildTx(def, layout, { ...values, ...own }, [rng.bytes(64)], scheme);
  });
  return {
    senderPublicKey: sender,
    miner: rng.chance(2)
      ? undefined
      : { publicKey: rng.pick(publicKeys), signature: rng.bytes(64) },
    transactions: [...new Map(made.map((tx) => [base58.encode(tx.id), tx])).values()],
    timestamp: anyTime(rng),
  };
}

function trade(layout: Layout, rng: Rng): Record<string, unknown> {
  const at = TIME + rng.u32();
  const { orders, price, amount } = orderPair(layout.version === 1, at, rng);
  const smallFee = (): bigint => rng.upTo(10n ** 18n);
  return {
    orders,
    price,
    amount,
    buyMatcherFee: smallFee(),
    sellMatcherFee: smallFee(),
    fee: smallFee(),
    timestamp: at,
  };
}
