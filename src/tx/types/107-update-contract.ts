/**
 * Gives a contract a new image (transactions.md#proof-style, transactions.md#types-and-versions).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | contractId 2+32 | image 2+n | imageHash 2+64
 *       | fee 8 | timestamp 8
 *   v2  feeAssetId at the end; v3 also badge; v4 also validationPolicy, apiVersion
 */
import { equal } from '../../base/bytes.ts';
import { refused } from '../../base/errors.ts';
import { base58 } from '../../codec/text.ts';
import { putContract } from '../../ledger/contracts.ts';
import { image, imageHash } from '../fields/contract-image.ts';
import { apiVersion, atomicBadge, validationPolicy } from '../fields/extensions.ts';
import { fee, feeAssetId, senderPublicKey, timestamp } from '../fields/shared.ts';
import { contractId } from '../fields/sized-id.ts';
import { existingContract, guardActive, guardNotExecuted } from '../rules/contract-rules.ts';
import { feature } from '../rules/features.ts';
import { CONTRACT_TX_BYTES_MAX, contractTooBig } from '../size.ts';
import { transaction } from '../transaction.ts';

const first = ['senderPublicKey', 'contractId', 'image', 'imageHash', 'fee', 'timestamp'];
const second = [...first, 'feeAssetId'];
const third = [...second, 'atomicBadge'];

export const updateContract = transaction({
  type: 107,
  name: 'UpdateContractTransaction',
  key: 'update-contract',
  doc: 'Gives a contract a new image.',
  fields: {
    senderPublicKey,
    contractId,
    image,
    imageHash,
    fee,
    timestamp,
    feeAssetId,
    atomicBadge,
    validationPolicy,
    apiVersion,
  },
  layouts: [
    { version: 1, frame: 'proven', fields: first },
    { version: 2, frame: 'proven', fields: second, feature: feature.sponsoredFees },
    { version: 3, frame: 'proven', fields: third, feature: feature.atomic },
    {
      version: 4,
      frame: 'proven',
      fields: [...third, 'validationPolicy', 'apiVersion'],
      feature: feature.contractValidation,
    },
  ],
  fee: 100_000_000n,
  roles: ['contract_developer'],
  bytesMax: CONTRACT_TX_BYTES_MAX,
  tooBig: contractTooBig,
  executable: true,
  record: ({ fields }) => ({ contractId: fields.contractId }),
  contract: ({ fields }) => fields.contractId,
  apply({ fields, id: transactionId }, ledger) {
    guardNotExecuted(ledger, transactionId);
    const { contractId: id, senderPublicKey: key, image: newImage, imageHash: newHash } = fields;
    const contract = existingContract(ledger, id);
    if (!equal(contract.creator, key)) {
      throw refused(
        `Contract update transaction sender '${base58.encode(key)}' ` +
          `is not equal to contract creator '${base58.encode(contract.creator)}'`,
      );
    }
    guardActive(contract, id);
    putContract(ledger, id, {
      ...contract,
      image: newImage,
      imageHash: newHash,
      version: contract.version + 1,
    });
  },
});
