// Executions for tests of the gRPC interface, with a small state that the contract may read.
import { randomBytes } from 'node:crypto';
import { base58 } from '../../../../src/base/base58.ts';
import { apiError } from '../../../../src/base/errors.ts';
import type {
  ContractExecution,
  ContractReads,
  ContractTransaction,
  DataEntry,
} from '../../../../src/base/ports/containers.ts';

export const id = (): string => base58.encode(new Uint8Array(randomBytes(32)));
export const address = (): string => base58.encode(new Uint8Array(randomBytes(26)));

export const image = { image: 'test/echo:1', imageHash: 'ab'.repeat(32) };

const call: ContractTransaction = {
  id: '',
  sender: address(),
  senderPublicKey: id(),
  contractId: id(),
  params: [
    { key: 'action', type: 'string', value: 'écho' },
    { key: 'least', type: 'integer', value: -(2n ** 63n) },
    { key: 'most', type: 'integer', value: 2n ** 63n - 1n },
    { key: 'zero', type: 'integer', value: 0n },
    { key: 'no', type: 'boolean', value: false },
    { key: 'bytes', type: 'binary', value: Uint8Array.of(0, 255, 128) },
    { key: 'empty', type: 'string', value: '' },
  ],
  fee: 10_000_000n,
  feeAssetId: undefined,
  version: 2,
  proofs: Uint8Array.of(1, 0, 1, 0, 2, 7, 8),
  timestamp: 1_700_000_000_123,
  data: { kind: 'call', contractVersion: 1 },
  json: () => '{}',
};

const block = {
  height: 17,
  timestamp: 1_700_000_001_000,
  minerAddress: address(),
  reference: base58.encode(new Uint8Array(randomBytes(64))),
};

export function execution(
  transaction: Partial<ContractTransaction> = {},
  reads: ContractReads = readsOf([]),
): ContractExecution {
  return {
    image,
    createVersion: 2,
    transaction: { ...call, id: id(), ...transaction },
    block,
    token: randomBytes(32).toString('base64url'),
    reads,
  };
}

/** Reads of a contract with these entries, and one answer for everything else. */
export const readsOf = (entries: readonly DataEntry[]): ContractReads => ({
  spend() {},
  streamed: async (items, read) => items.map(read),
  contractEntry(_contractId, key) {
    const found = entries.find((entry) => entry.key === key);
    if (found === undefined) throw apiError('NoDataForKey', key);
    return found;
  },
  async contractEntries(contractId, { offset, limit, matches, keys }) {
    if (contractId === 'unknown') throw apiError('ContractNotFound', contractId);
    const found = entries.filter(({ key }) =>
      matches === undefined ? (keys?.includes(key) ?? true) : new RegExp(`^${matches}$`).test(key),
    );
    return found.slice(offset, offset + limit);
  },
  addresses: () => ['first', 'second'],
  addressData: async (_address, offset, limit) => entries.slice(offset, offset + limit),
  balance: (_address, assetId) => ({ assetId, amount: 2n ** 60n, decimals: 3 }),
  assetId: (nonce) => `asset-${nonce}`,
  time: () => ({ system: 1_700_000_000_001, ntp: 1_700_000_000_002 }),
  transactionExists: (txId) => txId === 'known',
  permissions: (of, timestamp) => ({
    roles: [
      { role: `miner of ${of}`, due: undefined },
      { role: 'sender', due: 1_800_000_000_000 },
    ],
    timestamp: timestamp ?? 1_700_000_000_003,
  }),
  policyList: async (policyId, list) =>
    ({ recipients: [policyId], owners: ['owner'], hashes: ['hash'] })[list],
  blockHeader: (of) => ({
    version: 3,
    height: 'height' in of ? of.height : 9,
    id: 'id' in of ? of.id : 'by height',
    reference: 'parent',
    minerAddress: 'miner',
    transactionCount: 4,
    timestamp: 1_700_000_000_004,
  }),
});
