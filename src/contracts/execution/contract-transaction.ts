/** A contract transaction and its block in the form in which containers get them. */
import { base58 } from '../../base/base58.ts';
import { concat } from '../../base/bytes.ts';
import { stringify } from '../../base/json/json.ts';
import type { BlockInfo, ContractTransaction, DataEntry } from '../../base/ports/containers.ts';
import type { UnsignedHeader } from '../../block/header.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { Contract } from '../../ledger/contracts.ts';
import { txToJson } from '../../tx/json/described.ts';
import type { Tx } from '../../tx/transaction.ts';
import { createContract } from '../../tx/types/103-create-contract.ts';

export function blockInfo(header: UnsignedHeader, height: number, scheme: ChainScheme): BlockInfo {
  return {
    height,
    timestamp: header.timestamp,
    minerAddress: scheme.addressToText(scheme.addressOf(header.generator)),
    reference: base58.encode(header.reference),
  };
}

/** For a 103 or a 104; `contract` is what the call runs, or what the creation makes. */
export function contractTransaction(
  tx: Tx,
  contractId: Uint8Array,
  contract: Pick<Contract, 'image' | 'imageHash' | 'version'>,
  scheme: ChainScheme,
): ContractTransaction {
  const { fields } = tx;
  const feeAssetId = fields['feeAssetId'] as Uint8Array | undefined;
  return {
    id: base58.encode(tx.id),
    sender: scheme.addressToText(tx.sender),
    senderPublicKey: base58.encode(tx.senderPublicKey),
    contractId: base58.encode(contractId),
    params: fields['params'] as readonly DataEntry[],
    fee: tx.fee,
    feeAssetId: feeAssetId && base58.encode(feeAssetId),
    version: tx.version,
    proofs: proofBytes(tx.proofs),
    timestamp: tx.timestamp,
    data:
      tx.type === createContract.type
        ? {
            kind: 'create',
            image: contract.image,
            imageHash: contract.imageHash,
            contractName: fields['contractName'] as string,
          }
        : { kind: 'call', contractVersion: contract.version },
    json: () => stringify(txToJson(tx, scheme)),
  };
}

const u16 = (value: number): Uint8Array => Uint8Array.of(value >>> 8, value & 0xff);

/** version 1 | count 2 | (length 2, proof)* */
const proofBytes = (proofs: readonly Uint8Array[]): Uint8Array =>
  concat(Uint8Array.of(1), u16(proofs.length), ...proofs.flatMap((of) => [u16(of.length), of]));
