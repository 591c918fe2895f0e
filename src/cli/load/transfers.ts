/** Signed transfers of a load, and the mass transfers that fund their senders. */
import type { ChainScheme } from '../../codec/codec.ts';
import { assemble, messageOf } from '../../tx/assemble.ts';
import { type CompiledLayout, compiledLayoutOf } from '../../tx/compiled-layout.ts';
import type { Fields, Tx, Values } from '../../tx/transaction.ts';
import { transfer } from '../../tx/types/004-transfer.ts';
import { massTransfer } from '../../tx/types/011-mass-transfer.ts';

export interface Sender {
  readonly publicKey: Uint8Array;
  readonly address: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

export type Signer = Pick<Sender, 'publicKey' | 'sign'>;

export interface TransferOptions {
  readonly timestamp: number;
  readonly fee: bigint;
  /** By default the next sender. */
  readonly recipient?: Uint8Array | undefined;
}

export interface MassTransferOptions {
  readonly payments: readonly { readonly address: Uint8Array; readonly amount: bigint }[];
  readonly timestamp: number;
  readonly fee: bigint;
}

const NO_ATTACHMENT = new Uint8Array(0);
/** All nodes of the family take this version, which has a list of proofs. */
const transferPlan = compiledLayoutOf(
  transfer,
  transfer.layouts.find(({ version }) => version === 2)!,
);
const massTransferPlan = compiledLayoutOf(massTransfer, massTransfer.layouts[0]!);

/** The n-th transfer of all: senders take turns. */
export function nthTransfer(
  n: number,
  senders: readonly Sender[],
  { timestamp, fee, recipient = senders[(n + 1) % senders.length]!.address }: TransferOptions,
  scheme: ChainScheme,
): Tx {
  const sender = senders[n % senders.length]!;
  const values = {
    senderPublicKey: sender.publicKey,
    assetId: undefined,
    feeAssetId: undefined,
    timestamp,
    // Tells apart two transfers of one sender and one millisecond.
    amount: BigInt(1 + Math.floor(n / senders.length)),
    fee,
    recipient: { kind: 'address', bytes: recipient },
    attachment: NO_ATTACHMENT,
    atomicBadge: undefined,
  };
  return signed(transferPlan, values, sender, scheme);
}

export function massTransferOf(
  { payments, timestamp, fee }: MassTransferOptions,
  from: Signer,
  scheme: ChainScheme,
): Tx {
  const values = {
    senderPublicKey: from.publicKey,
    assetId: undefined,
    transfers: payments.map(({ address, amount }) => ({
      recipient: { kind: 'address', bytes: address },
      amount,
    })),
    timestamp,
    fee,
    attachment: NO_ATTACHMENT,
    feeAssetId: undefined,
    atomicBadge: undefined,
  };
  return signed(massTransferPlan, values, from, scheme);
}

/** Signs values that the caller knows to be those of the plan. */
export function signed(
  plan: CompiledLayout,
  values: Readonly<Record<string, unknown>>,
  { sign }: Pick<Sender, 'sign'>,
  scheme: ChainScheme,
): Tx {
  const typed = values as Values<Fields>;
  return assemble(plan, typed, [sign(messageOf(plan, typed, scheme))], scheme);
}
