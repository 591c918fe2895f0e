/**
 * The result of a contract run, made by the miner of the block (transactions.md#proof-style,
 * transactions.md#types-and-versions).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | length 4, full bytes of a 103, 104 or 107
 *       | count 2, results | timestamp 8
 *   v2  after results: resultsHash 2+32 | count 2, (validatorPublicKey 32 | signature 64)*
 */
import { assert } from '../../base/assert.ts';
import { equal } from '../../base/bytes.ts';
import { Refusal, refused } from '../../base/errors.ts';
import { type Codec, CodecError } from '../../codec/codec.ts';
import { bytes32 } from '../../codec/primitives.ts';
import { since } from '../../codec/struct.ts';
import { base58 } from '../../codec/text.ts';
import { putContractEntry, recordExecuted } from '../../ledger/contracts.ts';
import { createDecoder, layoutTable } from '../decoder.ts';
import { results } from '../fields/entries.ts';
import { validationProofs } from '../fields/extensions.ts';
import { senderPublicKey, timestamp } from '../fields/shared.ts';
import { base58Hash } from '../fields/sized-id.ts';
import { txToJson } from '../json/described.ts';
import { readRequest, readTransaction } from '../json/request.ts';
import { provenOf } from '../proof-verdicts.ts';
import { feature } from '../rules/features.ts';
import { EXECUTED_TX_BYTES_MAX, TX_BYTES_MAX } from '../size.ts';
import { type Tx, type TxType, transaction } from '../transaction.ts';
import { createContract } from './103-create-contract.ts';
import { callContract } from './104-call-contract.ts';
import { updateContract } from './107-update-contract.ts';

const executable = [
  createContract,
  callContract,
  updateContract,
] as readonly unknown[] as readonly TxType[];
const executableTypes = new Map(executable.map((def) => [def.type, def]));
const decode = createDecoder(layoutTable(executable));

const fullBytes = bytes32(TX_BYTES_MAX, base58);

const nested: Codec<Tx> = {
  write: (out, tx) => fullBytes.write(out, tx.bytes),
  read: (src) => decode(fullBytes.read(src), src.scheme),
  toJson: txToJson,
  fromJson(json, path, scheme) {
    try {
      const reading = readRequest(executableTypes, json, 'broadcast', path);
      return readTransaction(reading.layouts[0], reading.json, scheme, path);
    } catch (cause) {
      if (cause instanceof Refusal) throw new CodecError(path, cause.message, cause);
      throw cause;
    }
  },
  schema: { $ref: '#/components/schemas/Transaction' },
};

export const executedContract = transaction({
  type: 105,
  name: 'ExecutedContractTransaction',
  key: 'executed-contract',
  doc: 'Result of a contract run.',
  fields: {
    senderPublicKey,
    tx: nested,
    results,
    resultsHash: since(base58Hash),
    validationProofs,
    timestamp,
  },
  layouts: [
    {
      version: 1,
      frame: 'proven',
      fields: ['senderPublicKey', 'tx', 'results', 'timestamp'],
    },
    {
      version: 2,
      frame: 'proven',
      fields: ['senderPublicKey', 'tx', 'results', 'resultsHash', 'validationProofs', 'timestamp'],
      feature: feature.contractValidation,
    },
  ],
  fee: undefined,
  internal: true,
  madeByMiner: true,
  bytesMax: EXECUTED_TX_BYTES_MAX,
  inner: ({ fields }) => fields.tx,
  carried: ({ fields }) => [provenOf(fields.tx)],
  /** The executed transaction itself has been applied before. */
  apply({ fields, id, sender }, ledger, block) {
    const { tx, results: entries } = fields;
    if (block.generator === undefined || !equal(sender, block.generator)) {
      const { addressToText } = ledger.scheme;
      const creator = block.generator === undefined ? '' : addressToText(block.generator);
      throw refused(
        'ExecutedContractTransaction should be created only by block creator: ' +
          `tx sender is '${addressToText(sender)}', but block creator is '${creator}'`,
      );
    }
    const contract = contractOf(tx);
    if (tx.type === updateContract.type && entries.length > 0) {
      throw refused('An update of a contract has no results');
    }
    for (const { key, ...value } of entries) putContractEntry(ledger, contract, key, value);
    recordExecuted(ledger, tx.id, id);
  },
  involved: ({ fields }) => [fields.tx.sender],
  contract: ({ fields }) => contractOf(fields.tx),
});

/** The contract that the results belong to. */
function contractOf(tx: Tx): Uint8Array {
  const contract = tx.def.contract?.(tx);
  assert(contract !== undefined, 'what is executed concerns a contract');
  return contract;
}
