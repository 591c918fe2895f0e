/**
 * Several transactions that enter a block together or not at all (transactions.md#atomic-transactions).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | miner 00, or 01 | publicKey 32 | signature 64
 *       | count 2, (length 4 | full bytes of a member)* | timestamp 8
 *
 * Signed are the ids of the members in place of their bytes, without `miner`, so that the block's
 * generator can add its own signature. In a block, a contract transaction stands inside its result
 * (105). The sender has signed its id all the same, and the generator signs the ids of the results, too.
 */
import { concat, equal, latin1 } from '../../base/bytes.ts';
import { apiError, Refusal, refused } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json/json.ts';
import { type Signature, withSignature } from '../../base/signer/signing.ts';
import { type ChainScheme, type Codec, CodecError } from '../../codec/codec.ts';
import { bytes32 } from '../../codec/primitives.ts';
import { list16, option, struct } from '../../codec/struct.ts';
import { base58 } from '../../codec/text.ts';
import { assembleUnread } from '../assemble.ts';
import { createUnreadDecoder, layoutTable } from '../decoder.ts';
import type { AtomicBadge } from '../fields/extensions.ts';
import { signature } from '../fields/proofs.ts';
import { publicKey, senderPublicKey, timestamp } from '../fields/shared.ts';
import { txToJson } from '../json/described.ts';
import { readRequest, readTransaction } from '../json/request.ts';
import { asSent } from '../members.ts';
import { provenOf } from '../proof-verdicts.ts';
import { feature } from '../rules/features.ts';
import { EXECUTED_TX_BYTES_MAX, requireSize } from '../size.ts';
import { type Proven, type Tx, type TxType, transaction } from '../transaction.ts';
import { issue } from './003-issue.ts';
import { transfer } from './004-transfer.ts';
import { reissue } from './005-reissue.ts';
import { burn } from './006-burn.ts';
import { lease } from './008-lease.ts';
import { leaseCancel } from './009-lease-cancel.ts';
import { createAlias } from './010-create-alias.ts';
import { massTransfer } from './011-mass-transfer.ts';
import { data } from './012-data.ts';
import { sponsorFee } from './014-sponsor-fee.ts';
import { permit } from './102-permit.ts';
import { createContract } from './103-create-contract.ts';
import { callContract } from './104-call-contract.ts';
import { executedContract } from './105-executed-contract.ts';
import { disableContract } from './106-disable-contract.ts';
import { updateContract } from './107-update-contract.ts';
import { registerNode } from './111-register-node.ts';
import { createPolicy } from './112-create-policy.ts';
import { updatePolicy } from './113-update-policy.ts';
import { policyDataHash } from './114-policy-data-hash.ts';

/** A verdict of a thread has one byte for each account, those of results and the miner included. */
export const MEMBERS_MAX = 100;
const MEMBERS_MIN = 2;
const TYPE = 120;
const BADGE = 'atomicBadge';

/** Every type with a layout that has a badge, and the results of contracts. */
const memberTypes: ReadonlyMap<number, TxType> = new Map(
  (
    [
      ...[issue, transfer, reissue, burn, lease, leaseCancel, createAlias, massTransfer, data],
      ...[sponsorFee, permit, createContract, callContract, disableContract, updateContract],
      ...[registerNode, createPolicy, updatePolicy, policyDataHash, executedContract],
    ] as readonly unknown[] as readonly TxType[]
  ).map((def) => [def.type, def]),
);

/** New scripts among the members are read where that of a transaction alone would be. */
const decode = createUnreadDecoder(layoutTable([...memberTypes.values()]));
const fullBytes = bytes32(EXECUTED_TX_BYTES_MAX, base58);
const noMember = (reason: string): Refusal => apiError('Invalid', reason);

const member: Codec<Tx> = {
  write: (out, tx) => fullBytes.write(out, tx.bytes),
  read: (src) => decode(fullBytes.read(src), src.scheme),
  toJson: txToJson,
  fromJson(json, path, scheme) {
    try {
      requireMemberType(json);
      const reading = readRequest(memberTypes, json, 'broadcast', path);
      return readTransaction(reading.layouts[0], reading.json, scheme, path, assembleUnread);
    } catch (cause) {
      if (cause instanceof Refusal) throw new CodecError(path, cause.message, cause);
      throw cause;
    }
  },
  schema: { $ref: '#/components/schemas/SignedTransaction' },
};

/** Throws ApiError. */
function requireMemberType(json: unknown): void {
  const type = isObject(json) ? Number(json['type'] ?? Number.NaN) : Number.NaN;
  if (type === TYPE) {
    throw noMember('Atomic transaction cannot contain another atomic transaction');
  }
  if (Number.isInteger(type) && !memberTypes.has(type)) {
    throw noMember(`Transaction type ${type} does not support atomic containers`);
  }
}

interface Seal {
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
}

const sealBytes = option(struct({ publicKey, signature }));

/** In JSON the key alone; the signature is the last of the proofs, as in the family's answers. */
const miner: Codec<Seal | undefined> = {
  ...sealBytes,
  toJson: (value) => (value === undefined ? null : base58.encode(value.publicKey)),
  print: undefined,
  schema: {
    type: ['string', 'null'],
    description: 'public key of the generator; null in the pool',
  },
};

export const atomic = transaction({
  type: TYPE,
  name: 'AtomicTransaction',
  key: 'atomic',
  doc: 'Transactions that enter a block together or not at all.',
  fields: {
    senderPublicKey,
    miner,
    transactions: list16(member, MEMBERS_MAX, (count) =>
      noMember(`Atomic transaction with ${count} transactions, at most ${MEMBERS_MAX} are allowed`),
    ),
    timestamp,
  },
  layouts: [
    {
      version: 1,
      frame: 'proven',
      fields: ['senderPublicKey', 'miner', 'transactions', 'timestamp'],
      feature: feature.atomic,
    },
  ],
  fee: undefined,
  /** With what the generator adds, which is no part of what the sender may send. */
  bytesMax: EXECUTED_TX_BYTES_MAX,
  guardFeatures({ fields }, { features }) {
    if (features.has(feature.contractsInAtomics)) return;
    const contract = fields.transactions.map(asSent).find(({ def }) => def.executable === true);
    if (contract !== undefined) throw apiError('ContractInAtomic', base58.encode(contract.id));
  },
  normalize: withSeal,
  derived: ({ fields, proofs }) =>
    fields.miner === undefined
      ? {}
      : { proofs: [...proofs, fields.miner.signature].map(base58.encode) },
  writeBody(out, values) {
    out.bytes(values.senderPublicKey);
    out.u16(values.transactions.length);
    for (const tx of values.transactions) out.bytes(asSent(tx).id);
    timestamp.write(out, values.timestamp);
  },
  members: ({ fields }) => fields.transactions,
  carried: (tx) => {
    const { transactions, miner: by } = tx.fields;
    // What a member carries stands behind it (proof-verdicts.ts).
    const carried = transactions.flatMap((member): readonly Proven[] => [
      provenOf(member),
      ...(member.def.carried?.(member) ?? []),
    ]);
    if (by !== undefined) {
      const message = sealMessage(tx.body, transactions);
      carried.push({ publicKey: by.publicKey, message, proofs: [by.signature] });
    }
    return carried;
  },
  waiting: (tx): Tx => {
    const of = tx as unknown as Tx;
    return tx.fields.miner === undefined ? of : formOf(of, undefined, asSent);
  },
  check({ fields, sender, bytes }, scheme) {
    const { transactions, miner: by } = fields;
    const sent = transactions.map(asSent);
    const results = sum(transactions) - sum(sent);
    requireSize({}, bytes.length - sealSize(by) - results);
    if (transactions.length < MEMBERS_MIN) {
      throw noMember('Atomic transaction must contain more than 1 transaction');
    }
    if (new Set(sent.map(({ id }) => latin1(id))).size < transactions.length) {
      throw noMember('Atomic transaction cannot contain duplicated transactions');
    }
    for (const tx of transactions) requireForm(tx, by !== undefined);
    for (const tx of sent) requireMember(tx, sender, scheme);
  },
  apply({ fields }, ledger, { generator }) {
    const by = fields.miner && ledger.scheme.addressOf(fields.miner.publicKey);
    if (generator === undefined) {
      if (by === undefined) return;
      throw refused('The field miner of an atomic transaction must be empty outside blocks');
    }
    if (by === undefined) throw refused('Atomic transaction validation failed: miner is empty');
    if (equal(by, generator)) return;
    const { addressToText } = ledger.scheme;
    throw refused(
      'Atomic transaction must be mined only by block creator: ' +
        `miner is '${addressToText(by)}', but block creator is '${addressToText(generator)}'`,
    );
  },
  involved: function* ({ fields }, ledger) {
    for (const tx of fields.transactions) {
      yield tx.sender;
      yield* tx.def.involved?.(tx, ledger) ?? [];
    }
  },
});

/** What runs a contract stands in blocks with its results, and nowhere else. */
function requireForm({ type, def }: Tx, isMined: boolean): void {
  if (isMined && def.executable === true) {
    throw noMember('Mined atomic transaction cannot contain executable transactions');
  }
  if (!isMined && type === executedContract.type) {
    throw noMember('Atomic transaction cannot contain executed transactions');
  }
}

/** Who puts the transaction into a group: whom its badge trusts, else its own sender. */
function requireMember(tx: Tx, atomicSender: Uint8Array, scheme: ChainScheme): void {
  const id = base58.encode(tx.id);
  const badge = tx.fields[BADGE] as AtomicBadge | undefined;
  if (badge === undefined) {
    throw noMember(`Transaction '${id}' inside an atomic container must have an atomic badge`);
  }
  // Such an id does not say whose alias it is, so the sender's own signature has to.
  if (tx.def.id !== undefined && !equal(tx.sender, atomicSender)) {
    throw noMember(
      `The transaction '${id}' of type ${tx.type} inside an atomic container must have its sender, ` +
        `and not '${scheme.addressToText(tx.sender)}'`,
    );
  }
  const { trustedSender } = badge;
  if (equal(trustedSender ?? tx.sender, atomicSender)) return;
  const of = scheme.addressToText(trustedSender ?? tx.sender);
  throw noMember(
    `The ${trustedSender === undefined ? 'sender' : 'trusted'} address '${of}' of the transaction ` +
      `'${id}' does not match the atomic sender '${scheme.addressToText(atomicSender)}'`,
  );
}

/** The last proof of an answer with a miner is the miner's. */
function withSeal(json: JsonObject): JsonObject {
  const { miner: by, proofs } = json;
  if (typeof by !== 'string' || !Array.isArray(proofs) || proofs.length === 0) return json;
  const last: unknown = proofs.at(-1);
  return { ...json, proofs: proofs.slice(0, -1), miner: { publicKey: by, signature: last } };
}

const sealSize = (by: Seal | undefined): number =>
  by === undefined ? 0 : by.publicKey.length + by.signature.length;

/** 00 | type | version */
const HEAD_BYTES = 3;
const COUNT_BYTES = 2;
const LENGTH_BYTES = 4;

const sum = (txs: readonly Tx[]): number => txs.reduce((all, { bytes }) => all + bytes.length, 0);

/** What the generator signs. */
const sealMessage = (body: Uint8Array, members: readonly Tx[]): Uint8Array =>
  concat(body, ...members.filter(({ def }) => def.inner !== undefined).map(({ id }) => id));

/**
 * The same with another field `miner`, and with other forms of its members. The bytes are cut, and no
 * rule is checked again: a block asks for it before anybody knows who has signed that block, and
 * reading scripts would take long.
 */
function formOf(tx: Tx, by: Seal | undefined, change: (member: Tx) => Tx): Tx {
  const { bytes, fields, senderPublicKey: key } = tx;
  const before = fields['transactions'] as readonly Tx[];
  const members = before.map(change);
  const at = HEAD_BYTES + key.length;
  const start = at + 1 + sealSize(fields['miner'] as Seal | undefined) + COUNT_BYTES;
  const end = start + before.length * LENGTH_BYTES + sum(before);
  const seal =
    by === undefined ? [Uint8Array.of(0)] : [Uint8Array.of(1), by.publicKey, by.signature];
  return {
    ...tx,
    fields: { ...fields, miner: by, transactions: members },
    bytes: concat(
      ...[bytes.subarray(0, at), ...seal, bytes.subarray(start - COUNT_BYTES, start)],
      ...members.flatMap((member) => [lengthOf(member), member.bytes]),
      bytes.subarray(end),
    ),
  };
}

function lengthOf({ bytes }: Tx): Uint8Array {
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, bytes.length);
  return length;
}

/** What the generator of a block signs with its key. */
export interface Signer<S extends Signature = Signature> {
  readonly publicKey: Uint8Array;
  readonly sign: (message: Uint8Array) => S;
}

type ResultIn = (member: Tx) => Tx;

/** The form that the generator's block holds; `result` is that of a member that runs a contract. */
export function sealedForBlock(tx: Tx, signer: Signer<Uint8Array>, result?: ResultIn): Tx;
export function sealedForBlock(tx: Tx, signer: Signer, result?: ResultIn): Tx | Promise<Tx>;
export function sealedForBlock(
  tx: Tx,
  { publicKey: key, sign }: Signer,
  result: ResultIn = (member) => member,
): Tx | Promise<Tx> {
  const message = sealMessage(tx.body, (tx.fields['transactions'] as readonly Tx[]).map(result));
  return withSignature(sign(message), (signature) =>
    formOf(tx, { publicKey: key, signature }, result),
  );
}
