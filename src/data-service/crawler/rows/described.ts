/**
 * What the columns of a transaction say about it: asset, amount, text to search, addresses and
 * aliases (data-service.md#columns). The transaction comes as the JSON of a node, which may be a
 * later release with types that this one does not know.
 */
import { base58 } from '../../../base/base58.ts';
import { isObject, type JsonObject } from '../../../base/json/json.ts';
import { EXECUTED } from '../../schema/tables.ts';
import { int64, objects, storableText, text, texts } from '../storable.ts';

/** Stands for the native coin where an asset id is expected; `I` is no Base58 character. */
const NATIVE = 'NATIVE';
const MESSAGE_CHARS_MAX = 4096;

/** The asset that is moved or managed; undefined where there is none. */
export function assetOf(type: number, tx: JsonObject): string | undefined {
  switch (type) {
    case 1:
    case 2:
    case 8:
      return NATIVE;
    case 3:
      return text(tx['id']);
    case 4:
    case 11:
      return text(tx['assetId']) ?? NATIVE;
    case 5:
    case 6:
    case 14:
    case 15:
      return text(tx['assetId']);
    case 7:
      return text(pairOf(tx)['amountAsset']) ?? NATIVE;
    default:
      return undefined;
  }
}

/** The asset that pays the fee; what a 105 carries pays its own. Undefined: the native token. */
export function feeAssetOf(type: number, tx: JsonObject): string | undefined {
  return text((carriedBy(type, tx) ?? tx)['feeAssetId']);
}

/** The creation, call or update of a contract whose result a transaction is. */
function carriedBy(type: number, tx: JsonObject): JsonObject | undefined {
  const carried = type === EXECUTED ? tx['tx'] : undefined;
  return isObject(carried) ? carried : undefined;
}

function pairOf(tx: JsonObject): JsonObject {
  const order = tx['order1'];
  const pair = isObject(order) ? order['assetPair'] : undefined;
  return isObject(pair) ? pair : {};
}

export function amountOf(type: number, tx: JsonObject): bigint | undefined {
  if (type === 3 || type === 5) return int64(tx['quantity']);
  if (type === 11) {
    const total = amountsOf(tx).reduce((sum, amount) => sum + amount, 0n);
    return int64(total);
  }
  return type <= 8 ? int64(tx['amount']) : undefined;
}

/** The amount of each transfer of type 11. */
export const amountsOf = (tx: JsonObject): bigint[] =>
  objects(tx['transfers']).map(({ amount }) => int64(amount) ?? 0n);

/** The text that the search looks into. */
export function messageOf(type: number, tx: JsonObject): string | undefined {
  const carried = carriedBy(type, tx);
  const words =
    carried === undefined ? wordsOf(type, tx) : wordsOf(Number(carried['type']), carried);
  const found = words?.slice(0, MESSAGE_CHARS_MAX);
  return found === undefined || found === '' ? undefined : storableText(found);
}

function wordsOf(type: number, tx: JsonObject): string | undefined {
  const joined = (...names: string[]): string =>
    names
      .flatMap((name) => text(tx[name]) ?? [])
      .join(' ')
      .trim();
  switch (type) {
    case 3:
    case 13:
      return joined('name', 'description');
    case 4:
    case 11:
      return attachmentText(tx['attachment']);
    case 10:
      return text(tx['alias']);
    case 112:
      return joined('policyName', 'description');
    case 103:
    case 107:
      return joined('contractName', 'image');
    default:
      return undefined;
  }
}

const utf8Text = new TextDecoder('utf-8', { fatal: true });
/** No attachment is longer: 140 bytes in most networks, a few kilobytes where that was raised. */
const ATTACHMENT_CHARS_MAX = 8192;

/** Undefined where the bytes are no text. */
function attachmentText(attachment: unknown): string | undefined {
  if (typeof attachment !== 'string' || attachment === '') return undefined;
  try {
    return utf8Text.decode(base58.decode(attachment, ATTACHMENT_CHARS_MAX));
  } catch {
    return undefined;
  }
}

export interface Parties {
  readonly author: string | undefined;
  /** Addresses, and aliases in their long form. */
  readonly participants: readonly string[];
}

/** Id of a lease → its recipient, an address or an alias. */
export type Lessees = ReadonlyMap<string, string>;

/** `lessees`: of leases that a transaction ends and the node does not show with it. */
export function partiesOf(type: number, tx: JsonObject, lessees?: Lessees): Parties {
  const author = text(tx['sender']);
  const lessee = lessees?.get(leaseToLearn(type, tx) ?? '');
  return { author, participants: lessee === undefined ? participantsOf(type, tx) : [lessee] };
}

/** The lease that a transaction ends where the node does not show it with it. */
export const leaseToLearn = (type: number, tx: JsonObject): string | undefined =>
  type === 9 && !isObject(tx['lease']) ? text(tx['leaseId']) : undefined;

function participantsOf(type: number, tx: JsonObject): string[] {
  const one = (value: unknown): string[] =>
    typeof value === 'string' ? [storableText(value)] : [];
  switch (type) {
    case 1:
    case 2:
    case 4:
    case 8:
      return one(tx['recipient']);
    case 7:
      return ['order1', 'order2'].flatMap((name) =>
        one((tx[name] as JsonObject | undefined)?.['sender']),
      );
    case 9:
      return one((tx['lease'] as JsonObject | null | undefined)?.['recipient']);
    case 11:
      return objects(tx['transfers']).flatMap(({ recipient }) => one(recipient));
    case 12:
      return one(tx['author']);
    case 101:
    case 102:
    case 110:
    case 111:
      return one(tx['target']);
    case 105:
      return one((tx['tx'] as JsonObject | undefined)?.['sender']);
    case 112:
    case 113:
      return [...texts(tx['recipients']), ...texts(tx['owners'])];
    default:
      return [];
  }
}

const ALIAS = /^alias:.:/;

/** The bare name of `alias:T:name`; undefined for an address. */
export const aliasName = (recipient: string): string | undefined =>
  ALIAS.test(recipient) ? recipient.replace(ALIAS, '') : undefined;

/** The id of the network in `alias:T:name`. */
export const aliasChain = (alias: string): string => alias.charAt('alias:'.length);

/** Without the prefix that old clients write. */
export const bareAddress = (recipient: string): string => recipient.replace(/^address:/, '');
