/**
 * Which network a store belongs to: written with the genesis block, compared at every start
 * (protocol.md §1.5).
 */
import { equal } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import type { StoreWrite } from '../base/ports.ts';
import type { Chain } from '../codec/codec.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { meta } from '../ledger/tables.ts';

/** Raised whenever rows of an older release cannot be read any more. */
export const SCHEMA_VERSION = 1;

const VERSION = 'schema-version';
const GENESIS = 'genesis-id';
const NETWORK = 'chain-id';

export function foundingWrites(genesisId: Uint8Array, chain: Chain): StoreWrite[] {
  const row = (name: string, value: Uint8Array): StoreWrite => ({
    table: meta.id,
    key: meta.key.encode(name),
    value,
  });
  return [
    row(VERSION, Uint8Array.of(SCHEMA_VERSION)),
    row(GENESIS, genesisId),
    row(NETWORK, Uint8Array.of(chain.chainId)),
  ];
}

/** Refuses a store of another network or another release. Throws ApiError; changes nothing. */
export function requireSameOrigin(view: LedgerView, genesisId: Uint8Array): void {
  const version = view.get(meta, VERSION)?.[0];
  if (version !== SCHEMA_VERSION) {
    throw apiError(
      'Invalid',
      `The data directory has schema version ${version}, this release reads ${SCHEMA_VERSION}`,
    );
  }
  const stored = view.get(meta, GENESIS);
  if (stored === undefined || !equal(stored, genesisId)) {
    throw apiError('Invalid', 'Mismatched genesis blocks in configuration and blockchain');
  }
}
