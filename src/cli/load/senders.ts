/**
 * The accounts that send the load: numbers 1, 2, … of one seed phrase, whose number 0 pays. What
 * they have left stays with them, and the next run with the same phrase uses it.
 */
import { systemRandom } from '../../adapters/system.ts';
import { base58 } from '../../base/base58.ts';
import type { JsonObject } from '../../base/json/json.ts';
import { addresses } from '../../rest/routes/addresses.ts';
import { transactions } from '../../rest/routes/transactions.ts';
import type { Client } from '../../rest-framework/client.ts';
import { txToJson } from '../../tx/json/encode.ts';
import type { Tx } from '../../tx/transaction.ts';
import { massTransfer, TRANSFERS_MAX } from '../../tx/types/011-mass-transfer.ts';
import type { Cryptography } from '../cryptography.ts';
import { confirmed } from '../signed-calls.ts';
import { CliError } from '../terminal/exit.ts';
import { say } from '../terminal/output.ts';
import { massTransferOf, type Sender } from './transfers.ts';

export function senderOf(phrase: string, nonce: number, { family, scheme }: Cryptography): Sender {
  const { privateKey, publicKey } = family.keyPairFromPhrase(phrase, nonce);
  return {
    publicKey,
    address: scheme.addressOf(publicKey),
    sign: (message) => family.sign(privateKey, message, systemRandom),
  };
}

/** The minimum fee of such a transaction. */
export async function feeOf(
  { call }: Client,
  request: Readonly<Record<string, unknown>>,
): Promise<bigint> {
  const answer = await call(transactions.calculateFee, { body: request as never });
  return BigInt(answer.feeAmount);
}

export interface Funding {
  readonly payer: Sender;
  readonly senders: readonly Sender[];
  /** What each sender needs, in smallest units. */
  readonly amount: bigint;
  readonly waitSeconds: number;
}

interface Lack {
  readonly sender: Sender;
  readonly lacks: bigint;
}

/** Gives every sender what it lacks, and waits until all have it. Throws CliError. */
export async function fund(node: Client, funding: Funding, of: Cryptography): Promise<void> {
  const { payer, senders, amount, waitSeconds } = funding;
  const poor: Lack[] = [];
  for (const sender of senders) {
    const owns = await balanceOf(node, sender, of);
    if (owns < amount) poor.push({ sender, lacks: amount - owns });
  }
  if (poor.length === 0) return;
  say(`funding ${poor.length} accounts`);
  for (let start = 0; start < poor.length; start += TRANSFERS_MAX) {
    const tx = await massTransferTo(node, poor.slice(start, start + TRANSFERS_MAX), payer, of);
    const sent = await node.call(transactions.broadcast, {
      body: txToJson(tx, of.scheme) as never,
    });
    await confirmed(node, sent as JsonObject, waitSeconds);
  }
}

async function massTransferTo(
  node: Client,
  poor: readonly Lack[],
  payer: Sender,
  of: Cryptography,
): Promise<Tx> {
  const { scheme } = of;
  const owns = await balanceOf(node, payer, of);
  const fee = await feeOf(node, {
    type: massTransfer.type,
    version: 1,
    senderPublicKey: base58.encode(payer.publicKey),
    transfers: poor.map(({ sender }) => ({
      recipient: scheme.addressToText(sender.address),
      amount: 1,
    })),
  });
  const sum = poor.reduce((total, { lacks }) => total + lacks, fee);
  if (owns < sum) {
    const address = scheme.addressToText(payer.address);
    throw new CliError(`${address} owns ${owns}, and ${sum} are needed; take fewer transfers`);
  }
  const payments = poor.map(({ sender, lacks }) => ({ address: sender.address, amount: lacks }));
  return massTransferOf({ payments, timestamp: Date.now(), fee }, payer, scheme);
}

async function balanceOf(
  { call }: Client,
  { address }: Sender,
  { scheme }: Cryptography,
): Promise<bigint> {
  const params = { address: scheme.addressToText(address) };
  return BigInt((await call(addresses.balance, { params })).balance);
}
