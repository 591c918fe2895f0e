/**
 * The block at height 1, which follows from the configuration alone (blocks.md#genesis).
 *
 * Its transactions have this order, where T is the time of the block and k = 1, 2, 3 … counts the
 * role grants of the whole block:
 *   1    for each initial balance        at T
 *   110  for each participant            at T, then
 *   101  for each of its roles           at T − k
 *
 * Each grant is earlier than the one before, because the miner queue is ordered by their time
 * (consensus.md#the-miner-queue): the miner listed last is first in the queue.
 */

import { assert } from '../base/assert.ts';
import { apiError } from '../base/errors.ts';
import type { SignatureCheck } from '../base/ports/verifier.ts';
import { SIGNATURE_BYTES } from '../base/sizes.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { ROLES } from '../tx/fields/permission.ts';
import type { Fields, Input, TxType } from '../tx/transaction.ts';
import { buildTx } from '../tx/tx-bytes.ts';
import { genesis } from '../tx/types/001-genesis.ts';
import { genesisPermit } from '../tx/types/101-genesis-permit.ts';
import { genesisRegisterNode } from '../tx/types/110-genesis-register-node.ts';
import { type Block, GENESIS_TRANSACTIONS_MAX, sealBlock } from './block.ts';
import {
  type ConsensusData,
  GENERATION_SIGNATURE_BYTES,
  GENESIS_VERSION,
  LARGE_GENESIS_VERSION,
} from './header.ts';

/** No network is older than this. */
export const GENESIS_TIMESTAMP_MIN = 1_559_260_800_000;

export interface GenesisSettings {
  /** T; when signing, the current time. */
  readonly timestamp: number;
  readonly version: typeof GENESIS_VERSION | typeof LARGE_GENESIS_VERSION;
  /** A block of version 4 holds it; version 1 has no place for it. */
  readonly senderRoleEnabled?: boolean;
  readonly consensus:
    | { readonly kind: 'poa' }
    | { readonly kind: 'pos'; readonly initialBaseTarget: bigint };
  readonly transactions: readonly {
    readonly recipient: Uint8Array;
    readonly amount: bigint;
  }[];
  readonly networkParticipants: readonly {
    readonly publicKey: Uint8Array;
    /** Role bytes of blocks.md#genesis-transactions in the listed order. */
    readonly roles: readonly number[];
  }[];
}

/** The full bytes of the transactions in their order. */
export function genesisTransactions(
  settings: Pick<GenesisSettings, 'timestamp' | 'transactions' | 'networkParticipants'>,
  scheme: ChainScheme,
): Uint8Array[] {
  const { timestamp } = settings;
  const bytesOf = <F extends Fields>(def: TxType<F>, input: Input<F>): Uint8Array =>
    buildTx(def, def.layouts[0]!, input, [], scheme).bytes;

  const found = settings.transactions.map(({ recipient, amount }) =>
    bytesOf(genesis, { timestamp, recipient, amount }),
  );
  let grants = 0;
  for (const { publicKey, roles } of settings.networkParticipants) {
    found.push(bytesOf(genesisRegisterNode, { targetPublicKey: publicKey, timestamp }));
    const target = scheme.addressOf(publicKey);
    for (const byte of roles) {
      const role = ROLES[byte - 1];
      assert(role !== undefined, `${byte} is the byte of a role`);
      grants += 1;
      found.push(bytesOf(genesisPermit, { target, role, timestamp: timestamp - grants }));
    }
  }
  return found;
}

/** Rebuilds the block from the configuration and the signature in it. Throws ApiError. */
export function buildGenesis(
  settings: GenesisSettings,
  seal: { readonly publicKey: Uint8Array; readonly signature: Uint8Array },
  scheme: ChainScheme,
): Block {
  if (settings.timestamp < GENESIS_TIMESTAMP_MIN) {
    throw apiError('Invalid', `Genesis block-timestamp must be at least ${GENESIS_TIMESTAMP_MIN}`);
  }
  if (seal.publicKey.length !== scheme.publicKeySize || seal.signature.length !== SIGNATURE_BYTES) {
    throw apiError('Invalid', 'Passed genesis signature is not valid');
  }
  return signGenesis(settings, { publicKey: seal.publicKey, sign: () => seal.signature }, scheme);
}

/** Makes and signs the block with a new key, which is then forgotten. Throws ApiError. */
export function signGenesis(
  settings: GenesisSettings,
  key: { readonly publicKey: Uint8Array; readonly sign: (message: Uint8Array) => Uint8Array },
  scheme: ChainScheme,
): Block {
  const { timestamp, version } = settings;
  const transactions = genesisTransactions(settings, scheme);
  const count = transactions.length;
  if (version === GENESIS_VERSION && count > GENESIS_TRANSACTIONS_MAX) {
    throw apiError(
      'Invalid',
      'Too much transactions for genesis block: ' +
        `found '${count}', max count '${GENESIS_TRANSACTIONS_MAX}'`,
    );
  }
  return sealBlock(
    {
      version,
      timestamp,
      reference: new Uint8Array(SIGNATURE_BYTES).fill(0xff),
      consensus: initialConsensus(settings.consensus),
      features: [],
      generator: key.publicKey,
      ...(version === LARGE_GENESIS_VERSION && settings.senderRoleEnabled === true
        ? { senderRoleEnabled: true }
        : {}),
    },
    transactions,
    scheme,
    key.sign,
  );
}

function initialConsensus(consensus: GenesisSettings['consensus']): ConsensusData {
  return consensus.kind === 'poa'
    ? { kind: 'poa', skippedRounds: 0 }
    : {
        kind: 'pos',
        baseTarget: consensus.initialBaseTarget,
        generationSignature: new Uint8Array(GENERATION_SIGNATURE_BYTES),
      };
}

/** Refuses a genesis block whose signature does not match its key. Throws ApiError. */
export function verifyGenesis(genesis: Block, verify: (check: SignatureCheck) => boolean): void {
  const { generator: publicKey, signature } = genesis.header;
  const unsigned = genesis.bytes.subarray(0, genesis.bytes.length - SIGNATURE_BYTES);
  if (!verify({ publicKey, message: unsigned, signature })) {
    throw apiError('Invalid', 'Passed genesis signature is not valid');
  }
}
