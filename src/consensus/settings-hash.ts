/**
 * One hash over all settings that must be equal on all nodes of a network (H-4). Nodes compare it
 * in the handshake, and a node does not open a store that was made under other settings.
 *
 * hash = fast(canonical JSON): keys sorted by code unit, no spaces, integers in plain digits.
 */
import { type JsonObject, stringify } from '../base/json/json.ts';

/** Values are JSON values, bigints, or maps with number or text keys. */
export interface NetworkSettings {
  readonly consensus: JsonObject;
  readonly functionality: JsonObject;
  readonly fees: JsonObject;
  /** Sizes and counts that limit a block. */
  readonly limits: JsonObject;
  readonly txExpireTimeoutMs: number;
  /**
   * The deepest reorganisation in blocks; absent for the default, so that older releases have the
   * same hash.
   */
  readonly maxRollback?: number;
}

export function settingsHash(
  settings: NetworkSettings,
  fastHash: (bytes: Uint8Array) => Uint8Array,
): Uint8Array {
  const { consensus, functionality, fees, limits, txExpireTimeoutMs, maxRollback } = settings;
  const text = canonicalJson({
    consensus,
    functionality,
    fees,
    limits,
    'tx-expire-timeout': txExpireTimeoutMs,
    'max-rollback': maxRollback,
  });
  return fastHash(new TextEncoder().encode(text));
}

/** Those by which turns are computed, for whoever needs no others. */
export const consensusHash = (
  { consensus }: Pick<NetworkSettings, 'consensus'>,
  fastHash: (bytes: Uint8Array) => Uint8Array,
): Uint8Array => fastHash(new TextEncoder().encode(canonicalJson(consensus)));

/** One value always gives the same text; undefined members are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) return stringify(value);
  const members: (readonly [unknown, unknown])[] =
    value instanceof Map ? [...value] : Object.entries(value);
  const texts = members
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => [String(key), member] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${stringify(key)}:${canonicalJson(member)}`);
  return `{${texts.join()}}`;
}
