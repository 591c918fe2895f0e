/** A call as the container receives it. */
import type { ContractExecution } from '../../../base/containers.ts';
import { toEntry, toInt64 } from './entries.ts';
import type { TransactionMessage } from './rpcs.ts';

export function transactionMessage(execution: ContractExecution): TransactionMessage {
  const { transaction, block, token } = execution;
  const { data, feeAssetId } = transaction;
  return {
    transaction: {
      id: transaction.id,
      type: data.kind === 'create' ? 103 : 104,
      sender: transaction.sender,
      senderPublicKey: transaction.senderPublicKey,
      contractId: transaction.contractId,
      params: transaction.params.map(toEntry),
      fee: toInt64(transaction.fee),
      version: transaction.version,
      proofs: transaction.proofs,
      timestamp: transaction.timestamp,
      feeAssetId: feeAssetId === undefined ? undefined : { value: feeAssetId },
      ...(data.kind === 'create'
        ? {
            createData: {
              image: data.image,
              imageHash: data.imageHash,
              contractName: data.contractName,
            },
          }
        : { callData: { contractVersion: data.contractVersion } }),
    },
    authToken: token,
    currentBlockInfo: block,
  };
}
