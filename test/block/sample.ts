// A chain without cryptography and arbitrary blocks of every version.
import fc from 'fast-check';
import type { Block } from '../../src/block/block.ts';
import { sealBlock } from '../../src/block/block.ts';
import type { ConsensusData, UnsignedHeader } from '../../src/block/header.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';

const FREE = { fixed: 0, per: 0, each: 1 };

/** Addresses are 26 bytes cut out of the key, texts are hex: enough where no key is real. */
export const scheme: ChainScheme = {
  chainId: 84,
  charges: { hash: FREE, verify: FREE },
  nativeToken: 'WEST',
  publicKeySize: 32,
  addressOf: (publicKey) => publicKey.slice(0, 26),
  addressToText: (address) => Buffer.from(address).toString('hex'),
  accountTexts: (publicKey) => ({
    publicKey: Buffer.from(publicKey).toString('hex'),
    address: Buffer.from(publicKey.subarray(0, 26)).toString('hex'),
  }),
  addressFromText: (text) => new Uint8Array(Buffer.from(text, 'hex')),
  addressProblem: () => undefined,
  fastHash: (bytes) => bytes.slice(0, 32),
  secureHash: (bytes) => bytes.slice(0, 32),
  verify: () => true,
};

export const filled = (count: number, byte: number): Uint8Array => new Uint8Array(count).fill(byte);

const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

const lostTurn = fc.record({
  timestamp: fc.maxSafeNat(),
  reference: bytesOf(64),
  generator: bytesOf(32),
  signature: bytesOf(64),
});

const claims = fc.record({ own: bytesOf(64), lost: fc.array(lostTurn, { maxLength: 4 }) });

export const consensusData: fc.Arbitrary<ConsensusData> = fc.oneof(
  fc.record({ kind: fc.constant('poa' as const), skippedRounds: fc.maxSafeNat() }),
  fc.record({ kind: fc.constant('poa' as const), skippedRounds: fc.maxSafeNat(), claims }),
  fc.record({
    kind: fc.constant('pos' as const),
    baseTarget: fc.bigInt(1n, 2n ** 63n - 1n),
    generationSignature: bytesOf(32),
  }),
);

const votes = fc
  .uniqueArray(fc.integer({ min: 0, max: 0x7fff }), { maxLength: 64 })
  .map((ids) => ids.sort((a, b) => a - b));

const common = {
  timestamp: fc.maxSafeNat(),
  reference: bytesOf(64),
  consensus: consensusData,
  generator: bytesOf(32),
};

const unsignedHeader: fc.Arbitrary<UnsignedHeader> = fc.oneof(
  fc.record({ ...common, version: fc.constant(1 as const), features: fc.constant([]) }),
  fc.record({ ...common, version: fc.constant(3 as const), features: votes }),
  fc.record({ ...common, version: fc.constant(4 as const), features: votes }),
  fc.record({
    ...common,
    version: fc.constant(4 as const),
    features: votes,
    senderRoleEnabled: fc.boolean(),
  }),
);

export const block: fc.Arbitrary<Block> = fc
  .record({
    header: unsignedHeader,
    transactions: fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 20 }),
    signature: bytesOf(64),
  })
  .map(({ header, transactions, signature }) =>
    sealBlock(header, transactions, scheme, () => signature),
  );

export const header = (fields: Partial<UnsignedHeader> = {}): UnsignedHeader => ({
  version: 3,
  timestamp: 1_573_472_578_702,
  reference: filled(64, 255),
  consensus: { kind: 'poa', skippedRounds: 0 },
  features: [],
  generator: filled(32, 7),
  ...fields,
});

export const seal = (fields: Partial<UnsignedHeader>, transactions: readonly Uint8Array[] = []) =>
  sealBlock(header(fields), transactions, scheme, () => filled(64, 9));
