/** What a running contract reads through gRPC (contracts.md#reads-of-a-running-contract). */
import { base58 } from '../../base/base58.ts';
import { concat } from '../../base/bytes.ts';
import { type ApiError, apiError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type {
  AssetAmount,
  ContractReads,
  DataEntry,
  KeysQuery,
  RoleInfo,
} from '../../base/ports/containers.ts';
import { KEYS_AT_ONCE, type KeyFilter, listsOf } from '../../base/ports/patterns.ts';
import { BLOCK_ID_BYTES, ID_BYTES } from '../../base/sizes.ts';
import { headerRowAt, heightOf } from '../../chain/store/stored-blocks.ts';
import { inSlices, listInSteps } from '../../concurrency/steps.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { accountOf } from '../../ledger/accounts.ts';
import { assetBalance, assetOf } from '../../ledger/assets.ts';
import { contractEntries, contractEntry, contractOf } from '../../ledger/contracts.ts';
import { dataEntries } from '../../ledger/data.ts';
import type { DataValue } from '../../ledger/data-value.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { rolesAt } from '../../ledger/permissions.ts';
import { hashesOf, membersOf, OWNER, policyOf, RECIPIENT } from '../../ledger/policies.ts';
import { roleName } from '../../ledger/roles.ts';
import { KEY_CHARS_MAX } from '../../tx/fields/entries.ts';

export interface ContractReadsPorts {
  /** Within the budget of the execution. */
  readonly view: LedgerView;
  /** Takes rows from the same budget; throws ApiError AnswerTooBig. */
  readonly spend: (rows: number) => void;
  readonly clock: Clock;
  /** Texts of the addresses in the keystore. */
  readonly addresses: () => readonly string[];
  /** Rejects with ApiError where the pattern is malformed or too expensive. */
  readonly keyFilter: (pattern: string) => Promise<KeyFilter>;
  /** Id of the transaction that is executed. */
  readonly txId: Uint8Array;
  /** Also for transactions of the block that is being made. */
  readonly isKnown: (id: Uint8Array) => boolean;
}

const NATIVE_DECIMALS = 8;
/** The budget of the execution ends a longer list. */
const ROWS_MAX = 1_000_000;

export function createContractReads(ports: ContractReadsPorts): ContractReads {
  const { view, clock } = ports;
  const { scheme } = view;
  return {
    spend: ports.spend,
    streamed: (items, read) => streamed(clock, items, read),
    contractEntry: (contractId, key) => entryOf(view, contractIn(view, contractId), key),
    contractEntries: (contractId, query) => entriesOf(contractIn(view, contractId), query, ports),
    addresses: ports.addresses,
    async addressData(address, offset, limit) {
      const rows = dataEntries(view, scheme.addressFromText(address), ROWS_MAX);
      return inSlices(page(rows, offset, limit), new TimeSlice(clock));
    },
    balance: (address, assetId) => balanceOf(view, scheme.addressFromText(address), assetId),
    assetId: (nonce) =>
      base58.encode(scheme.fastHash(concat(ports.txId, Uint8Array.of(nonce & 0xff)))),
    time: () => ({ system: clock.system(), ntp: clock.now() }),
    transactionExists: (id) => ports.isKnown(idFrom(id, () => apiError('Invalid', badId(id)))),
    permissions(address, timestamp = clock.now()) {
      // The rows of the time after it must have a key, too.
      if (!Number.isSafeInteger(timestamp + 1) || timestamp < 0) {
        throw apiError('Invalid', 'The timestamp is no time');
      }
      const roles = rolesAt(view, scheme.addressFromText(address), timestamp).map(
        ({ role, due }): RoleInfo => ({ role: roleName(role) ?? `${role}`, due }),
      );
      return { roles, timestamp };
    },
    policyList: async (policyId, list) =>
      inSlices(policyList(view, policyId, list), new TimeSlice(clock)),
    blockHeader: (of) => blockHeaderIn(view, of),
  };
}

const badId = (text: string): string =>
  `Failed to decode base58 transaction id value '${text.slice(0, SHOWN_CHARS)}'`;
const SHOWN_CHARS = 100;

/** Digits of the longest id, so that no long text is decoded. */
const ID_CHARS_MAX = 100;

function idFrom(text: string, problem: () => ApiError, bytes: number = ID_BYTES): Uint8Array {
  let id: Uint8Array | undefined;
  try {
    id = text.length <= ID_CHARS_MAX ? base58.decode(text) : undefined;
  } catch {
    // What is no Base58 is no id either.
  }
  if (id?.length !== bytes) throw problem();
  return id;
}

/** Throws ApiError ContractNotFound. */
function contractIn(view: LedgerView, text: string): Uint8Array {
  const notFound = () => apiError('ContractNotFound', text.slice(0, SHOWN_CHARS));
  const id = idFrom(text, notFound);
  if (contractOf(view, id) === undefined) throw notFound();
  return id;
}

const entry = ([key, value]: readonly [string, DataValue]): DataEntry =>
  ({ key, ...value }) as DataEntry;

/** Keys that no result can have are not looked for. */
const isKey = (key: string): boolean => key.length > 0 && key.length <= KEY_CHARS_MAX;

function entryOf(view: LedgerView, contractId: Uint8Array, key: string): DataEntry {
  const value = isKey(key) ? contractEntry(view, contractId, key) : undefined;
  if (value === undefined) throw apiError('NoDataForKey', key.slice(0, SHOWN_CHARS));
  return entry([key, value]);
}

async function entriesOf(
  contractId: Uint8Array,
  { offset, limit, matches, keys }: KeysQuery,
  { view, clock, keyFilter, spend }: ContractReadsPorts,
): Promise<readonly DataEntry[]> {
  if (matches === undefined && keys !== undefined) {
    const sought = keys.filter(isKey);
    spend(keys.length - sought.length);
    const found = await streamed(clock, sought, (key) => {
      const value = contractEntry(view, contractId, key);
      return value === undefined ? undefined : entry([key, value]);
    });
    return found.filter((one) => one !== undefined);
  }
  const accepts = matches === undefined ? undefined : await keyFilter(matches);
  const slice = new TimeSlice(clock);
  const found: DataEntry[] = [];
  let skip = offset;
  if (limit <= 0) return found;
  // Without a pattern no row is read ahead.
  const atOnce = accepts === undefined ? 1 : KEYS_AT_ONCE;
  for (const rows of listsOf(contractEntries(view, contractId, ROWS_MAX), atOnce)) {
    const verdicts = await accepts?.(rows.map(([key]) => key));
    for (const [i, row] of rows.entries()) {
      if (verdicts?.[i] === false || skip-- > 0) continue;
      found.push(entry(row));
      if (found.length >= limit) return found;
    }
    if (slice.isOver()) await slice.yield();
  }
  return found;
}

/** What `read` gives for each item; a step is a few of them, so that everything else can run. */
const streamed = <T, R>(
  clock: Clock,
  items: readonly T[],
  read: (item: T) => R,
): Promise<readonly R[]> => inSlices(readInSteps(items, read), new TimeSlice(clock));

function* readInSteps<T, R>(
  items: readonly T[],
  read: (item: T) => R,
): Generator<undefined, readonly R[]> {
  const found: R[] = [];
  for (const item of items) {
    found.push(read(item));
    if (found.length % ITEMS_OF_STEP === 0) yield undefined;
  }
  return found;
}

const ITEMS_OF_STEP = 16;

function* page(
  rows: Iterable<readonly [string, DataValue]>,
  offset: number,
  limit: number,
): Generator<undefined, readonly DataEntry[]> {
  const found: DataEntry[] = [];
  let read = 0;
  if (limit <= 0) return found;
  for (const row of rows) {
    if (read++ >= offset) found.push(entry(row));
    if (found.length >= limit) break;
    if (read % ITEMS_OF_STEP === 0) yield undefined;
  }
  return found;
}

function balanceOf(
  view: LedgerView,
  address: Uint8Array,
  assetId: string | undefined,
): AssetAmount {
  if (assetId === undefined) {
    return { assetId, amount: accountOf(view, address).balance, decimals: NATIVE_DECIMALS };
  }
  const unknown = () =>
    apiError('InvalidAssetId', `Asset id '${assetId.slice(0, SHOWN_CHARS)}' is unknown`);
  const id = idFrom(assetId, unknown);
  const asset = assetOf(view, id);
  if (asset === undefined) throw unknown();
  return { assetId, amount: assetBalance(view, address, id), decimals: asset.decimals };
}

function* policyList(
  view: LedgerView,
  text: string,
  list: Parameters<ContractReads['policyList']>[1],
): Generator<undefined, readonly string[]> {
  const id = idFrom(text, () => apiError('PolicyNotFound'));
  if (policyOf(view, id) === undefined) throw apiError('PolicyNotFound');
  if (list === 'hashes') {
    const hashes = yield* listInSteps(hashesOf(view, id, ROWS_MAX));
    return yield* readInSteps(hashes, base58.encode);
  }
  const members = yield* membersOf(view, id, list === 'owners' ? OWNER : RECIPIENT);
  return yield* readInSteps(members, view.scheme.addressToText);
}

function blockHeaderIn(
  view: LedgerView,
  of: { readonly id: string } | { readonly height: number },
): ReturnType<ContractReads['blockHeader']> {
  const text = 'id' in of ? of.id.slice(0, SHOWN_CHARS) : `${of.height}`;
  const notFound = () => apiError('BlockNotFound', text);
  const height =
    'height' in of ? of.height : heightOf(view, idFrom(of.id, notFound, BLOCK_ID_BYTES));
  const isHeight = height !== undefined && Number.isInteger(height) && height > 0;
  const row = isHeight && height < HEIGHT_MAX ? headerRowAt(view, height) : undefined;
  if (row === undefined || height === undefined) throw notFound();
  const { header, transactionCount } = row;
  const { scheme } = view;
  return {
    version: header.version,
    height,
    id: base58.encode(header.signature),
    reference: base58.encode(header.reference),
    minerAddress: scheme.addressToText(scheme.addressOf(header.generator)),
    transactionCount,
    timestamp: header.timestamp,
  };
}

const HEIGHT_MAX = 2 ** 31;
