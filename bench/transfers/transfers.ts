/** Signed transfers of version 2, and the mass transfers that fund their senders. */
import { stringify } from '../../src/base/json.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import { planOf } from '../../src/tx/plan.ts';
import { messageOf, seal } from '../../src/tx/seal.ts';
import type { Fields, Tx, Values } from '../../src/tx/transaction.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { massTransfer, TRANSFERS_MAX } from '../../src/tx/types/011-mass-transfer.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import { post } from '../load/requests.ts';
import type { Sender } from './senders.ts';

const FUNDS = 1_000_00000000n;
const FEE = 1_000_000n;
const MASS_TRANSFER_FEE = 50_000_000n;
const NO_ATTACHMENT = new Uint8Array(0);

const transferPlan = planOf(transfer, transfer.layouts[1]!);
const massTransferPlan = planOf(massTransfer, massTransfer.layouts[0]!);
const permitPlan = planOf(permit, permit.layouts[0]!);

/** The n-th transfer of all: senders take turns, each pays the next one unless told whom. */
export function nthTransfer(
  n: number,
  senders: readonly Sender[],
  timestamp: number,
  scheme: ChainScheme,
  recipient: Uint8Array = senders[(n + 1) % senders.length]!.address,
): Tx {
  const sender = senders[n % senders.length]!;
  const values = {
    senderPublicKey: sender.publicKey,
    assetId: undefined,
    feeAssetId: undefined,
    timestamp,
    // Tells apart two transfers of one millisecond.
    amount: BigInt(1 + Math.floor(n / senders.length)),
    fee: FEE,
    recipient: { kind: 'address', bytes: recipient },
    attachment: NO_ATTACHMENT,
    atomicBadge: undefined,
  };
  return sealed(transferPlan, values, sender, scheme);
}

/** Gives every sender what it needs for a hundred thousand transfers. */
export function fundingTransfers(
  senders: readonly Sender[],
  from: Pick<Sender, 'publicKey' | 'sign'>,
  timestamp: number,
  scheme: ChainScheme,
): Tx[] {
  const txs: Tx[] = [];
  for (let start = 0; start < senders.length; start += TRANSFERS_MAX) {
    const some = senders.slice(start, start + TRANSFERS_MAX);
    const values = {
      senderPublicKey: from.publicKey,
      assetId: undefined,
      transfers: some.map(({ address }) => ({
        recipient: { kind: 'address', bytes: address },
        amount: FUNDS,
      })),
      timestamp: timestamp + start,
      fee: MASS_TRANSFER_FEE + BigInt(some.length) * FEE,
      attachment: NO_ATTACHMENT,
      feeAssetId: undefined,
      atomicBadge: undefined,
    };
    txs.push(sealed(massTransferPlan, values, from, scheme));
  }
  return txs;
}

/** Lets these accounts make blocks. */
export const minerPermits = (
  targets: readonly string[],
  from: Pick<Sender, 'publicKey' | 'sign'>,
  timestamp: number,
  scheme: ChainScheme,
): Tx[] =>
  targets.map((target) => {
    const values = {
      senderPublicKey: from.publicKey,
      target: { kind: 'address', bytes: scheme.addressFromText(target) },
      timestamp,
      fee: FEE,
      opType: 'add',
      role: 'miner',
      dueTimestamp: undefined,
      atomicBadge: undefined,
    };
    return sealed(permitPlan, values, from, scheme);
  });

export function sealed(
  plan: ReturnType<typeof planOf>,
  values: Record<string, unknown>,
  { sign }: Pick<Sender, 'sign'>,
  scheme: ChainScheme,
): Tx {
  const typed = values as Values<Fields>;
  return seal(plan, typed, [sign(messageOf(plan, typed, scheme))], scheme);
}

export const broadcastBody = (tx: Tx, scheme: ChainScheme): string =>
  stringify(txToJson(tx, scheme));

export const broadcastRequest = (tx: Tx, scheme: ChainScheme): Uint8Array =>
  post('/transactions/broadcast', broadcastBody(tx, scheme));
