/** A call as the container receives it. What the messages do not define stays out of them. */
import type { ContractExecution } from '../../../base/containers.ts';
import { toEntry, toInt64 } from './entries.ts';
import type { TransactionMessage } from './rpcs.ts';

export function transactionMessage(execution: ContractExecution): TransactionMessage {
  const { transaction, block, token } = execution;
  const { data, feeAssetId } = transaction;
  return {
    transaction: {
      ...transaction,
      type: data.kind === 'create' ? 103 : 104,
      params: transaction.params.map(toEntry),
      fee: toInt64(transaction.fee),
      feeAssetId: feeAssetId === undefined ? undefined : { value: feeAssetId },
      ...(data.kind === 'create' ? { createData: data } : { callData: data }),
    },
    authToken: token,
    currentBlockInfo: block,
  };
}
