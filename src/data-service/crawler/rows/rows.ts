/** The rows of blocks, ready for the store. */
import { isObject, type JsonObject, stringify } from '../../../base/json/json.ts';
import { print } from '../../../rest-framework/answer.ts';
import {
  burn,
  createAlias,
  data,
  genesisPermit,
  issue,
  massTransfer,
  permit,
  reissue,
} from '../../../tx/all-types.ts';
import { types } from '../../../tx/registry.ts';
import type { ChainBlock } from '../chain-block.ts';
import {
  exactInteger,
  hasOnlyStorable,
  int64,
  objects,
  storableJson,
  text,
  texts,
} from '../storable.ts';
import { spanOf, timeOf } from './block-span.ts';
import { COLUMNS, type Table } from './columns.ts';
import { arrayText, type Cell, copyLine } from './copy-text.ts';
import {
  aliasName,
  amountOf,
  amountsOf,
  assetOf,
  bareAddress,
  feeAssetOf,
  type Lessees,
  messageOf,
  partiesOf,
} from './described.ts';

/** How a transaction names an address. */
export const AUTHOR = 1;
export const PARTICIPANT = 2;

/** The first appearance of an address in these blocks. */
interface Appearance {
  readonly height: number;
  readonly ts: number;
}

interface AssetChange {
  added: bigint;
  reissuable: boolean | undefined;
}

export interface Rows {
  readonly lines: { readonly [T in Table]: string[] };
  /** Of all lines. */
  bytes: number;
  /** Blocks whose rows these are. */
  blocks: number;
  /** Every address in these blocks. The lines of those that the store lacks are added later. */
  readonly users: Map<string, Appearance>;
  readonly assetChanges: Map<string, AssetChange>;
  /** Assets that pay fees: their issuers get them, and pay the miners. */
  readonly feeAssets: Set<string>;
  readonly typeCounts: Map<number, number>;
  /** Transactions of types that this release does not know. */
  unknown: number;
  /** Ids of transactions with values that no column can hold; they are stored without these. */
  readonly changed: string[];
  nextSeq: number;
  readonly lessees: Lessees;
}

/** Address of an alias, by its bare name. */
export type Aliases = Map<string, string>;

/** Adds a line. */
export function addRow(rows: Rows, table: Table, cells: readonly Cell[]): void {
  const line = copyLine(cells);
  rows.lines[table].push(line);
  rows.bytes += Buffer.byteLength(line) + 1;
}

/** Transactions of one step: less than half a millisecond. */
const STEP = 32;

/**
 * Those of the first blocks, at least of one, until they have `bytesMax`, in steps. `aliases` holds
 * those named that exist already; the blocks' own are added to it.
 */
export function* rowsOf(
  blocks: readonly ChainBlock[],
  firstSeq: number,
  aliases: Aliases,
  lessees: Lessees,
  bytesMax = Number.POSITIVE_INFINITY,
): Generator<undefined, Rows> {
  const names = Object.keys(COLUMNS) as Table[];
  const rows: Rows = {
    lines: Object.fromEntries(names.map((name) => [name, []])) as unknown as Rows['lines'],
    bytes: 0,
    blocks: 0,
    users: new Map(),
    assetChanges: new Map(),
    feeAssets: new Set(),
    typeCounts: new Map(),
    unknown: 0,
    changed: [],
    nextSeq: firstSeq,
    lessees,
  };
  for (const block of blocks) {
    if (rows.bytes >= bytesMax) break;
    yield* addBlock(rows, block, aliases);
    rows.blocks++;
  }
  return rows;
}

function* addBlock(rows: Rows, block: ChainBlock, aliases: Aliases): Generator<undefined, void> {
  addRow(rows, 'blocks', [
    block.height,
    block.signature,
    block.reference,
    block.version,
    block.timestamp,
    block.generator,
    block.baseTarget,
    block.generationSignature,
    stringify(block.consensus),
    arrayText(block.features),
    block.blocksize,
    block.fee,
    block.transactions.length,
    rows.nextSeq,
  ]);
  const span = spanOf(block);
  if (span !== undefined) addRow(rows, 'block_spans', [block.height, ...span]);
  meet(rows, block.generator, block.height, block.timestamp);
  for (const tx of block.transactions) {
    addTransaction(rows, tx, block, aliases);
    if (rows.nextSeq % STEP === 0) yield undefined;
  }
}

function meet(rows: Rows, address: string, height: number, ts: number): void {
  if (address !== '' && !rows.users.has(address)) rows.users.set(address, { height, ts });
}

function addTransaction(
  rows: Rows,
  given: JsonObject,
  { height, isStorable }: ChainBlock,
  aliases: Aliases,
): void {
  const seq = rows.nextSeq++;
  const type = Number(given['type']);
  const { tx, id } = clean(rows, given, isStorable);
  const ts = timeOf(tx);
  const amount = amountOf(type, tx);
  const [signature, ...others] = sealsOf(tx);
  const feeAsset = feeAssetOf(type, tx);
  if (feeAsset !== undefined) rows.feeAssets.add(feeAsset);
  addRow(rows, 'txs', [
    seq,
    id,
    type,
    Number(tx['version'] ?? 1),
    height,
    ts,
    text(tx['sender']),
    text(tx['senderPublicKey']),
    signature,
    exactInteger(tx['fee']) ?? 0,
    feeAsset,
    assetOf(type, tx),
    amount,
    messageOf(type, tx),
    print(bodyOf(tx, signature)),
  ]);
  rows.typeCounts.set(type, (rows.typeCounts.get(type) ?? 0) + 1);
  if (!types.has(type)) rows.unknown++;
  for (const proof of new Set(others)) addRow(rows, 'tx_proofs', [proof, seq]);
  const placed = { type, tx, id, seq, height, ts };
  addParties(rows, placed, aliases);
  DETAILS[type]?.(rows, placed, aliases);
}

function clean(rows: Rows, given: JsonObject, isStorable: boolean): { tx: JsonObject; id: string } {
  const id = text(given['id']) ?? '';
  if (isStorable) return { tx: given, id };
  const json = stringify(given);
  if (hasOnlyStorable(json)) return { tx: given, id };
  const tx = storableJson(given) as JsonObject;
  if (stringify(tx) !== json) rows.changed.push(id);
  return { tx, id };
}

/** The signature, or else the proofs; the first is the column, further ones have their own rows. */
function sealsOf(tx: JsonObject): string[] {
  const signature = text(tx['signature']);
  const proofs = texts(tx['proofs']);
  if (signature === undefined || signature === '') return proofs;
  return [signature, ...proofs.filter((proof) => proof !== signature)];
}

const COLUMN_NAMES = new Set([
  'id',
  'type',
  'height',
  'timestamp',
  'sender',
  'senderPublicKey',
  'fee',
]);

/** Stands in the stored body for a value that equals the column `signature`. */
export const AS_COLUMN = 1;

/** The JSON without what the columns hold. */
function bodyOf(tx: JsonObject, signature: string | undefined): JsonObject {
  const body: JsonObject = {};
  for (const name in tx) {
    if (COLUMN_NAMES.has(name)) continue;
    const value = tx[name];
    const isColumn =
      signature !== undefined &&
      ((name === 'signature' && value === signature) ||
        (name === 'proofs' &&
          Array.isArray(value) &&
          value.length === 1 &&
          value[0] === signature));
    body[name] = isColumn ? AS_COLUMN : value;
  }
  return body;
}

interface Placed {
  readonly type: number;
  readonly tx: JsonObject;
  readonly id: string;
  readonly seq: number;
  readonly height: number;
  readonly ts: number;
}

function addParties(rows: Rows, { type, tx, seq, height, ts }: Placed, aliases: Aliases): void {
  const { author, participants } = partiesOf(type, tx, rows.lessees);
  if (author !== undefined) {
    addRow(rows, 'tx_addresses', [author, seq, AUTHOR]);
    meet(rows, author, height, ts);
  }
  const seen = new Set<string>();
  for (const named of participants) {
    const alias = aliasName(named);
    if (alias !== undefined) addAliasUse(rows, alias, seq, seen);
    const address = alias === undefined ? bareAddress(named) : aliases.get(alias);
    if (address === undefined || address === '' || seen.has(address)) continue;
    // The author of its own data is no further participant.
    if (type === data.type && address === author) continue;
    seen.add(address);
    addRow(rows, 'tx_addresses', [address, seq, PARTICIPANT]);
    meet(rows, address, height, ts);
  }
}

function addAliasUse(rows: Rows, alias: string, seq: number, seen: Set<string>): void {
  const mark = `alias:${alias}`;
  if (seen.has(mark)) return;
  seen.add(mark);
  addRow(rows, 'tx_aliases', [alias, seq]);
}

const DETAILS: Readonly<Record<number, (rows: Rows, placed: Placed, aliases: Aliases) => void>> = {
  [issue.type]: addAsset,
  [reissue.type]: (rows, { tx }) =>
    changeAsset(rows, tx, int64(tx['quantity']) ?? 0n, tx['reissuable'] === true),
  [burn.type]: (rows, { tx }) => changeAsset(rows, tx, -(int64(tx['amount']) ?? 0n), undefined),
  [createAlias.type]: addAlias,
  [massTransfer.type]: addAmounts,
  [data.type]: addEntries,
  [genesisPermit.type]: addRole,
  [permit.type]: addRole,
};

function addAmounts(rows: Rows, { tx, seq }: Placed): void {
  for (const [pos, amount] of amountsOf(tx).entries()) {
    addRow(rows, 'tx_amounts', [seq, pos, amount]);
  }
}

function addAsset(rows: Rows, { tx, seq, id }: Placed): void {
  const quantity = int64(tx['quantity']) ?? 0n;
  const reissuable = tx['reissuable'] === true;
  addRow(rows, 'assets', [
    id,
    seq,
    text(tx['sender']) ?? '',
    text(tx['name']) ?? '',
    text(tx['description']) ?? '',
    quantity,
    quantity,
    Number(tx['decimals'] ?? 0),
    reissuable,
    reissuable,
  ]);
}

function changeAsset(
  rows: Rows,
  tx: JsonObject,
  added: bigint,
  reissuable: boolean | undefined,
): void {
  const id = text(tx['assetId']) ?? '';
  const change = rows.assetChanges.get(id) ?? { added: 0n, reissuable: undefined };
  change.added += added;
  change.reissuable = reissuable ?? change.reissuable;
  rows.assetChanges.set(id, change);
}

function addAlias(rows: Rows, { tx, seq }: Placed, aliases: Aliases): void {
  const alias = text(tx['alias']);
  const address = text(tx['sender']);
  if (alias === undefined || address === undefined) return;
  const name = aliasName(alias) ?? alias;
  addRow(rows, 'tx_aliases', [name, seq]);
  // An alias keeps its first owner.
  if (aliases.has(name)) return;
  aliases.set(name, address);
  addRow(rows, 'aliases', [name, address, seq]);
}

function addEntries(rows: Rows, { tx, seq }: Placed): void {
  const author = text(tx['author']) ?? text(tx['sender']) ?? '';
  for (const [position, entry] of objects(tx['data']).entries()) {
    const { key, type, value } = entry;
    addRow(rows, 'data_entries', [
      seq,
      position,
      author,
      text(key) ?? '',
      text(type) ?? '',
      valueText(value),
    ]);
  }
}

/** An integer 5 and a text "5" are the same to a search. */
function valueText(value: unknown): string {
  if (typeof value === 'string') return text(value)!;
  return isObject(value) || Array.isArray(value) ? stringify(value) : String(value ?? '');
}

function addRole(rows: Rows, { type, tx, seq, ts }: Placed, aliases: Aliases): void {
  const target = text(tx['target']) ?? '';
  const alias = aliasName(target);
  const address = alias === undefined ? bareAddress(target) : aliases.get(alias);
  const role = text(tx['role']);
  if (address === undefined || role === undefined) return;
  const op = type === genesisPermit.type ? 'add' : (text(tx['opType']) ?? 'add');
  addRow(rows, 'permission_ops', [seq, address, role, op, int64(tx['dueTimestamp']), ts]);
}
