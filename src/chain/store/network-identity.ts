/**
 * The network to which a store belongs, and the settings under which its blocks were judged. Both
 * are written with the genesis block and compared at every start (blocks.md#check-at-start).
 */
import { equal, fromUtf8, utf8 } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type { Store, StoreWrite } from '../../base/ports/store.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { meta } from '../../ledger/tables.ts';

/** Raised whenever this release cannot read the rows of an older one. */
export const SCHEMA_VERSION = 1;

const VERSION = 'schema-version';
const GENESIS = 'genesis-id';
const NETWORK = 'chain-id';
const SETTINGS = 'settings';

/** The settings that are equal on all nodes of a network: canonical JSON of the value by key. */
export type SharedSettings = Readonly<Record<string, string>>;

const row = (name: string, value: Uint8Array): StoreWrite => ({
  table: meta.id,
  key: meta.key.encode(name),
  value,
});

export function foundingWrites(genesisId: Uint8Array, scheme: ChainScheme): StoreWrite[] {
  return [
    row(VERSION, Uint8Array.of(SCHEMA_VERSION)),
    row(GENESIS, genesisId),
    row(NETWORK, Uint8Array.of(scheme.chainId)),
  ];
}

/** Refuses a store of another network or another release. Throws ApiError; changes nothing. */
export function requireSameNetwork(view: LedgerView, genesisId: Uint8Array): void {
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

/**
 * Refuses a store whose blocks were judged by other rules, and names the settings. A store made
 * before a setting existed takes over its current value. Throws ApiError, and then changes nothing.
 */
export async function requireSameSettings(
  view: LedgerView,
  settings: SharedSettings,
  store: Pick<Store, 'write'>,
): Promise<void> {
  const bytes = view.get(meta, SETTINGS);
  const stored: SharedSettings = JSON.parse(bytes === undefined ? '{}' : (fromUtf8(bytes) ?? '{}'));
  const changed = Object.keys(settings).filter(
    (key) => stored[key] !== undefined && stored[key] !== settings[key],
  );
  if (changed.length > 0) {
    const list = changed.map((key) => `${key} = ${stored[key]} (now ${settings[key]})`).join(', ');
    throw apiError(
      'Invalid',
      `The data directory was made with other settings of the network: ${list}`,
    );
  }
  if (Object.keys(settings).every((key) => stored[key] !== undefined)) return;
  await store.write([row(SETTINGS, utf8(JSON.stringify({ ...stored, ...settings })))]);
}
