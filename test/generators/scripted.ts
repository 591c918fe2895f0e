/**
 * Accounts whose scripts come and go, and what they send: transactions whose proofs nobody made, or
 * somebody else, or none at all. While the right script is there they are as good as any; once it is
 * gone nobody may take them.
 */
import { base58 } from '../../src/base/base58.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { assemble, messageOf, signedBytes } from '../../src/tx/assemble.ts';
import { compiledLayoutOf } from '../../src/tx/compiled-layout.ts';
import { type Order, orderFromJson } from '../../src/tx/fields/order.ts';
import { PROOF_BYTES_MAX, PROOFS_MAX } from '../../src/tx/fields/proofs.ts';
import type { Fields, Tx, TxType, Values } from '../../src/tx/transaction.ts';
import { issue } from '../../src/tx/types/003-issue.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { exchange } from '../../src/tx/types/007-exchange.ts';
import { massTransfer } from '../../src/tx/types/011-mass-transfer.ts';
import { data } from '../../src/tx/types/012-data.ts';
import { setScript } from '../../src/tx/types/013-set-script.ts';
import { setAssetScript } from '../../src/tx/types/015-set-asset-script.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { callContract } from '../../src/tx/types/104-call-contract.ts';
import { compiled } from './scripts.ts';

/** Whoever has a key. */
export interface Party {
  readonly publicKey: Uint8Array;
  readonly address: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

interface Chance {
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
  bytes(count: number): Uint8Array;
}

const SIGNED = 'sigVerify(tx.bodyBytes, tx.proofs[0], tx.senderPublicKey)';
/** Under each but the first its account alone changes it. */
const own = (rest: string): Uint8Array =>
  compiled(`match tx { case s: SetScriptTransaction => ${SIGNED} ${rest} }`);

export const accountScripts = {
  anything: compiled('true'),
  signed: compiled(SIGNED),
  nothing: own('case _ => false'),
  transfers: own('case t: TransferTransaction => t.amount % 2 == 0 case _ => false'),
  orders: own('case o: Order => o.amount == 1000 case _ => false'),
  secondProof: own('case t: Transaction => size(t.proofs[1]) == 64 case _ => true'),
  sometimes: own(`case t: Transaction => height % 3 != 0 || ${SIGNED} case _ => height % 2 == 0`),
} as const;

export const assetScripts = {
  anything: compiled('true', 'asset'),
  nothing: compiled('false', 'asset'),
  some: compiled(
    'match tx { case t: TransferTransaction => t.amount % 3 != 0 case _ => height % 2 == 0 }',
    'asset',
  ),
} as const;

const WEST = 100_000_000n;
const HOUR = 3_600_000;
/** Enough for any number of scripts that a transaction touches. */
const SCRIPTS_FEE = 4_000_000n;
const EACH_FEE = 10_000_000n;
const UNITS = 1_000_000_000n;

/** What stands in the place of signatures of this message. */
export type Proofs = (message: Uint8Array) => readonly Uint8Array[];

export const signedBy =
  (...parties: readonly Party[]): Proofs =>
  (message) =>
    parties.map(({ sign }) => sign(message));

/** One proof that could be a signature and is none. */
export const garbage =
  (chance: Chance, count = 1): Proofs =>
  () =>
    Array.from({ length: count }, () => chance.bytes(64));

/** Proofs of every kind that a client may send in place of one good signature. */
export function anyProofs(chance: Chance, from: Party, other: Party): Proofs {
  const kinds: readonly Proofs[] = [
    garbage(chance),
    garbage(chance, PROOFS_MAX),
    () => [],
    () => [chance.bytes(1 + chance.below(PROOF_BYTES_MAX))],
    signedBy(other),
    signedBy(from, other),
    (message) => [chance.bytes(64), from.sign(message)],
    (message) => [from.sign(message.subarray(1))],
  ];
  return chance.pick(kinds);
}

export class ScriptedSender {
  private readonly scheme: ChainScheme;
  private serial = 0;

  constructor(scheme: ChainScheme) {
    this.scheme = scheme;
  }

  /** `undefined` removes it. */
  setScript(from: Party, script: Uint8Array | undefined, at: number, proofs = signedBy(from)): Tx {
    const about = { script, name: 'a script', description: '' };
    return this.make(setScript, from, 1, at, about, proofs);
  }

  transfer(from: Party, to: Party, at: number, proofs: Proofs, assetId?: Uint8Array): Tx {
    const recipient = { kind: 'address', bytes: to.address };
    // No two are the same.
    const amount = BigInt(1 + this.serial);
    return this.make(transfer, from, 2, at, { recipient, amount, assetId }, proofs);
  }

  /** Entries of the sender at the cost of `author`, whom the first proof must name. */
  data(from: Party, author: Party, at: number, proofs: Proofs): Tx {
    const entry = { key: 'serial', type: 'integer', value: BigInt(this.serial) };
    const about = { authorPublicKey: author.publicKey, data: [entry] };
    return this.make(data, from, 1, at, about, proofs);
  }

  call(from: Party, contract: Contract, at: number, proofs: Proofs): Tx {
    const { id: contractId, version: contractVersion } = contract;
    const params = [{ key: 'value', type: 'integer', value: 1n }];
    const about = { contractId, contractVersion, params };
    return this.make(callContract, from, 2, at, about, proofs);
  }

  issue(from: Party, script: Uint8Array | undefined, at: number): Tx {
    const about = { name: 'Guarded', description: '', decimals: 0, reissuable: false, script };
    return this.make(issue, from, 2, at, { ...about, quantity: UNITS }, signedBy(from));
  }

  setAssetScript(from: Party, assetId: Uint8Array, script: Uint8Array, at: number): Tx {
    return this.make(setAssetScript, from, 1, at, { assetId, script }, signedBy(from));
  }

  /** A share of an asset for each. */
  share(from: Party, to: readonly Party[], assetId: Uint8Array | undefined, at: number): Tx {
    const amount = assetId === undefined ? 10_000n * WEST : UNITS / BigInt(2 * to.length);
    const transfers = to.map(({ address }) => ({
      recipient: { kind: 'address', bytes: address },
      amount,
    }));
    const fee = (massTransfer.fee ?? 0n) + SCRIPTS_FEE + EACH_FEE * BigInt(to.length);
    return this.make(massTransfer, from, 1, at, { assetId, transfers, fee }, signedBy(from));
  }

  permit(from: Party, target: Party, role: string, at: number): Tx {
    const whom = { kind: 'address', bytes: target.address };
    const about = { target: whom, opType: 'add', role, dueTimestamp: undefined };
    return this.make(permit, from, 1, at, about, signedBy(from));
  }

  /** Between two accounts, whose orders carry these proofs; `dex` signs the trade. */
  trade(dex: Party, assetId: Uint8Array, buy: Side, sell: Side, at: number): Tx {
    const orders = {
      order1: this.order('buy', buy, dex, assetId, at),
      order2: this.order('sell', sell, dex, assetId, at),
    };
    const fees = { buyMatcherFee: 1000n, sellMatcherFee: 1000n };
    const about = { orders, price: 2n * WEST, amount: 100n, ...fees };
    return this.make(exchange, dex, 2, at, about, signedBy(dex));
  }

  private order(
    orderType: 'buy' | 'sell',
    { of, proofs }: Side,
    dex: Party,
    assetId: Uint8Array,
    at: number,
  ): Order {
    const json = {
      version: 2,
      senderPublicKey: base58.encode(of.publicKey),
      matcherPublicKey: base58.encode(dex.publicKey),
      assetPair: { amountAsset: base58.encode(assetId), priceAsset: null },
      orderType,
      amount: 1000,
      price: 2n * WEST,
      // Each is another order.
      timestamp: at + this.serial++,
      expiration: at + HOUR,
      matcherFee: 10_000,
    };
    const read = (list: readonly Uint8Array[]): Order =>
      orderFromJson({ ...json, proofs: list.map((of) => base58.encode(of)) }, 'order', this.scheme);
    return read(proofs(read([]).body));
  }

  private make<F extends Fields>(
    def: TxType<F>,
    { publicKey }: Party,
    version: number,
    timestamp: number,
    about: object,
    proofs: Proofs,
  ): Tx {
    const { scheme } = this;
    const layout = def.layouts.find((one) => one.version === version)!;
    const plan = compiledLayoutOf(def, layout);
    this.serial++;
    const values = {
      chainId: scheme.chainId,
      senderPublicKey: publicKey,
      timestamp,
      fee: (def.fee ?? 0n) + SCRIPTS_FEE,
      attachment: new Uint8Array(0),
      assetId: undefined,
      feeAssetId: undefined,
      atomicBadge: undefined,
      ...about,
    } as unknown as Values<Fields>;
    return assemble(plan, values, proofs(messageOf(plan, values, scheme)), scheme);
  }
}

interface Side {
  readonly of: Party;
  readonly proofs: Proofs;
}

interface Contract {
  readonly id: Uint8Array;
  readonly version: number;
}

/** The same with other proofs, which makes no other id. */
export const reproved = (tx: Tx, proofs: Proofs, scheme: ChainScheme): Tx =>
  assemble(
    compiledLayoutOf(tx.def, tx.layout),
    tx.fields as Values<Fields>,
    proofs(signedBytes(tx)),
    scheme,
  );
