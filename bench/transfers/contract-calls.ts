/** Signed transactions of contracts: 103 of version 1 and 104 of version 1. */
import { type Sender, type Signer, signed } from '../../src/cli/load/transfers.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { compiledLayoutOf } from '../../src/tx/compiled-layout.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { createContract } from '../../src/tx/types/103-create-contract.ts';
import { callContract } from '../../src/tx/types/104-call-contract.ts';

const CREATE_FEE = 100_000_000n;
const CALL_FEE = 10_000_000n;
const createPlan = compiledLayoutOf(createContract, createContract.layouts[0]!);
const callPlan = compiledLayoutOf(callContract, callContract.layouts[0]!);

export interface Param {
  readonly key: string;
  readonly value: string;
}

const entries = (params: readonly Param[]) =>
  params.map(({ key, value }) => ({ key, type: 'string', value }));

export const creation = (
  image: { readonly image: string; readonly imageHash: string },
  name: string,
  from: Signer,
  timestamp: number,
  scheme: ChainScheme,
): Tx => {
  const values = {
    senderPublicKey: from.publicKey,
    ...image,
    contractName: name,
    params: entries([{ key: 'value', value: name }]),
    fee: CREATE_FEE,
    timestamp,
  };
  return signed(createPlan, values, from, scheme);
};

/** The n-th call; senders take turns. */
export const nthCall = (
  n: number,
  contractId: Uint8Array,
  params: readonly Param[],
  senders: readonly Sender[],
  timestamp: number,
  scheme: ChainScheme,
): Tx => {
  const sender = senders[n % senders.length]!;
  const values = {
    senderPublicKey: sender.publicKey,
    contractId,
    params: entries(params),
    fee: CALL_FEE,
    timestamp,
  };
  return signed(callPlan, values, sender, scheme);
};
