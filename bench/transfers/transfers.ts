/** The transfers of the benchmark, and what funds their senders and names their miners. */
import { stringify } from '../../src/base/json/json.ts';
import { post } from '../../src/cli/load/signed-transfers.ts';
import * as load from '../../src/cli/load/transfers.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { compiledLayoutOf } from '../../src/tx/compiled-layout.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { TRANSFERS_MAX } from '../../src/tx/types/011-mass-transfer.ts';
import { permit } from '../../src/tx/types/102-permit.ts';

/** Enough for a hundred thousand transfers. */
const FUNDS = 1_000_00000000n;
const FEE = 1_000_000n;
const MASS_TRANSFER_FEE = 50_000_000n;

const permitPlan = compiledLayoutOf(permit, permit.layouts[0]!);

/** The n-th transfer of all: senders take turns, each pays the next one unless told whom. */
export const nthTransfer = (
  n: number,
  senders: readonly load.Sender[],
  timestamp: number,
  scheme: ChainScheme,
  recipient?: Uint8Array,
): Tx => load.nthTransfer(n, senders, { timestamp, fee: FEE, recipient }, scheme);

export function fundingTransfers(
  senders: readonly load.Sender[],
  from: load.Signer,
  timestamp: number,
  scheme: ChainScheme,
  amount = FUNDS,
): Tx[] {
  const txs: Tx[] = [];
  for (let start = 0; start < senders.length; start += TRANSFERS_MAX) {
    const payments = senders
      .slice(start, start + TRANSFERS_MAX)
      .map(({ address }) => ({ address, amount }));
    const fee = MASS_TRANSFER_FEE + BigInt(payments.length) * FEE;
    txs.push(load.massTransferOf({ payments, timestamp: timestamp + start, fee }, from, scheme));
  }
  return txs;
}

/** Lets these accounts make blocks. */
export const minerPermits = (
  targets: readonly string[],
  from: load.Signer,
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
    return load.signed(permitPlan, values, from, scheme);
  });

export const broadcastBody = (tx: Tx, scheme: ChainScheme): string =>
  stringify(txToJson(tx, scheme));

export const broadcastRequest = (tx: Tx, scheme: ChainScheme): Uint8Array =>
  post('/transactions/broadcast', broadcastBody(tx, scheme));
