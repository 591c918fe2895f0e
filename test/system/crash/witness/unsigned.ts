/**
 * Transactions of accounts whose scripts permit what nobody has signed with the key of the account.
 * As soon as its script is gone, they are forgeries.
 */

import { base58 } from '../../../../src/base/base58.ts';
import type { Sender } from '../../../../src/cli/load/transfers.ts';
import type { ChainScheme } from '../../../../src/codec/codec.ts';
import { type Order, orderFromJson, orderToJson } from '../../../../src/tx/fields/order.ts';
import type { Fields, Input, Tx, TxType } from '../../../../src/tx/transaction.ts';
import { buildTx, signedBytes } from '../../../../src/tx/tx-bytes.ts';
import { transfer } from '../../../../src/tx/types/004-transfer.ts';
import { exchange } from '../../../../src/tx/types/007-exchange.ts';
import { setScript } from '../../../../src/tx/types/013-set-script.ts';
import { compiled } from '../../../generators/scripts.ts';

type Signing = Pick<Sender, 'publicKey' | 'sign'>;
type Key = Signing & Pick<Sender, 'address'>;

/** What stands in the place of a signature. */
export const NOBODY: Pick<Sender, 'sign'> = { sign: () => new Uint8Array(64).fill(7) };

const SCRIPT_FEE = 400_000n;
const ORDER = { price: 100_000_000n, amount: 10n, fee: 1000n };
const DAY_MS = 24 * 3_600_000;

export function signedTx<F extends Fields>(
  def: TxType<F>,
  version: number,
  values: Record<string, unknown>,
  by: Pick<Sender, 'sign'>,
  scheme: ChainScheme,
): Tx {
  const layout = def.layouts.find((one) => one.version === version)!;
  const input = { chainId: scheme.chainId, ...values } as unknown as Input<F>;
  const bare = buildTx(def, layout, input, [new Uint8Array(64)], scheme);
  return buildTx(def, layout, input, [by.sign(signedBytes(bare))], scheme) as unknown as Tx;
}

/** `source` undefined removes the script. */
export function scriptTx(
  { publicKey }: Signing,
  source: string | undefined,
  timestamp: number,
  by: Pick<Sender, 'sign'>,
  scheme: ChainScheme,
): Tx {
  const script = source === undefined ? undefined : compiled(source);
  const fee = (setScript.fee ?? 0n) + SCRIPT_FEE;
  const about = { name: 'guard', description: '', senderPublicKey: publicKey };
  return signedTx(setScript, 1, { ...about, script, fee, timestamp }, by, scheme);
}

/** `n` tells apart those of one time. */
export const transferTx = (
  { publicKey }: Signing,
  to: Uint8Array,
  n: number,
  timestamp: number,
  by: Pick<Sender, 'sign'>,
  scheme: ChainScheme,
): Tx =>
  signedTx(
    transfer,
    2,
    {
      senderPublicKey: publicKey,
      timestamp,
      amount: BigInt(n + 1),
      fee: 1_000_000n + SCRIPT_FEE,
      recipient: { kind: 'address', bytes: to },
      attachment: new Uint8Array(0),
    },
    by,
    scheme,
  );

export interface Traders {
  readonly matcher: Signing;
  readonly buyer: Signing;
  readonly seller: Signing;
  readonly asset: Uint8Array;
}

/** A trade whose buy order is signed by `by`. */
export function tradeTx(
  { matcher, buyer, seller, asset }: Traders,
  timestamp: number,
  by: Pick<Sender, 'sign'>,
  scheme: ChainScheme,
): Tx {
  const order = (side: 'buy' | 'sell', of: Signing, signs: Pick<Sender, 'sign'>): Order => {
    const { price, amount, fee } = ORDER;
    const json = {
      version: 2,
      senderPublicKey: base58.encode(of.publicKey),
      matcherPublicKey: base58.encode(matcher.publicKey),
      assetPair: { amountAsset: base58.encode(asset), priceAsset: null },
      orderType: side,
      ...{ price, amount, timestamp, expiration: timestamp + DAY_MS, matcherFee: fee },
    };
    const bare = orderFromJson({ ...json, proofs: [] }, 'obj', scheme);
    const proofs = [base58.encode(signs.sign(bare.body))];
    return orderFromJson({ ...orderToJson(bare, scheme), proofs }, 'obj', scheme);
  };
  const orders = { order1: order('buy', buyer, by), order2: order('sell', seller, seller) };
  const { price, amount, fee } = ORDER;
  const fees = { buyMatcherFee: fee, sellMatcherFee: fee, fee: exchange.fee };
  return signedTx(exchange, 2, { orders, price, amount, ...fees, timestamp }, matcher, scheme);
}

/** A script that permits what this key has signed. */
export const onlyBy = ({ publicKey }: Signing): string =>
  `sigVerify(tx.bodyBytes, tx.proofs[0], base58'${base58.encode(publicKey)}')`;

export type { Key };
