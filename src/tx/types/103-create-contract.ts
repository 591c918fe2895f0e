/**
 * Starts a container contract; the id of the transaction is the id of the contract
 * (transactions.md#proof-style, transactions.md#types-and-versions).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | image 2+n | imageHash 2+64 | contractName 2+n
 *       | count 2, params | fee 8 | timestamp 8
 *   v2  feeAssetId at the end; v3 also badge; v4 also validationPolicy, apiVersion; v5 payments
 */
import { putContract } from '../../ledger/contracts.ts';
import { contractName, image, imageHash } from '../fields/contract-image.ts';
import { params } from '../fields/entries.ts';
import { apiVersion, atomicBadge, payments, validationPolicy } from '../fields/extensions.ts';
import { fee, feeAssetId, senderPublicKey, timestamp } from '../fields/shared.ts';
import { guardNotExecuted } from '../rules/contract-rules.ts';
import { feature } from '../rules/features.ts';
import { CONTRACT_TX_BYTES_MAX, contractTooBig } from '../size.ts';
import { transaction } from '../transaction.ts';

const first = [
  'senderPublicKey',
  'image',
  'imageHash',
  'contractName',
  'params',
  'fee',
  'timestamp',
];
const second = [...first, 'feeAssetId'];
const third = [...second, 'atomicBadge'];
const fourth = [...third, 'validationPolicy', 'apiVersion'];

export const createContract = transaction({
  type: 103,
  name: 'CreateContractTransaction',
  key: 'create-contract',
  doc: 'Starts a contract.',
  fields: {
    senderPublicKey,
    image,
    imageHash,
    contractName,
    params,
    fee,
    timestamp,
    feeAssetId,
    atomicBadge,
    validationPolicy,
    apiVersion,
    payments,
  },
  layouts: [
    { version: 1, frame: 'proven', fields: first },
    { version: 2, frame: 'proven', fields: second, feature: feature.contractApi },
    { version: 3, frame: 'proven', fields: third, feature: feature.atomic },
    { version: 4, frame: 'proven', fields: fourth, feature: feature.contractValidation },
    {
      version: 5,
      frame: 'proven',
      fields: [...fourth, 'payments'],
      feature: feature.contractValidation,
    },
  ],
  fee: 100_000_000n,
  roles: ['contract_developer'],
  /** A contract without a name takes that of its image. */
  normalize: (json) =>
    (json['contractName'] === undefined || json['contractName'] === null) &&
    typeof json['image'] === 'string'
      ? { ...json, contractName: bareName(json['image']) }
      : json,
  bytesMax: CONTRACT_TX_BYTES_MAX,
  tooBig: contractTooBig,
  executable: true,
  record: () => ({}),
  contract: ({ id }) => id,
  apply({ fields, id }, ledger) {
    guardNotExecuted(ledger, id);
    putContract(ledger, id, {
      creator: fields.senderPublicKey,
      image: fields.image,
      imageHash: fields.imageHash,
      version: 1,
      active: true,
    });
  },
});

/** `registry.example.org/app:1.0` → `app`. */
function bareName(imageName: string): string {
  const afterRegistry = imageName.slice(imageName.lastIndexOf('/') + 1);
  return /^[^:@]*/.exec(afterRegistry)?.[0] ?? '';
}
