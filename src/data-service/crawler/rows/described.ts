/**
 * What the columns of a transaction say about it: asset, amount, text to search, addresses and
 * aliases (data-service.md#columns). The transaction comes as the JSON of a node, which may be a
 * later release with types that this one does not know.
 */
import { base58 } from '../../../base/base58.ts';
import { isObject, type JsonObject } from '../../../base/json/json.ts';
import {
  burn,
  createAlias,
  createContract,
  createPolicy,
  data,
  exchange,
  executedContract,
  genesis,
  genesisPermit,
  genesisRegisterNode,
  issue,
  lease,
  leaseCancel,
  massTransfer,
  payment,
  permit,
  registerNode,
  reissue,
  setAssetScript,
  setScript,
  sponsorFee,
  transfer,
  updateContract,
  updatePolicy,
} from '../../../tx/all-types.ts';
import type { ChainBlock } from '../chain-block.ts';
import { int64, objects, storableText, text, texts } from '../storable.ts';

/** Stands for the native coin where an asset id is expected; `I` is no Base58 character. */
const NATIVE = 'NATIVE';
const MESSAGE_CHARS_MAX = 4096;

/** The asset that is moved or managed; undefined where there is none. */
export function assetOf(type: number, tx: JsonObject): string | undefined {
  switch (type) {
    case genesis.type:
    case payment.type:
    case lease.type:
      return NATIVE;
    case issue.type:
      return text(tx['id']);
    case transfer.type:
    case massTransfer.type:
      return text(tx['assetId']) ?? NATIVE;
    case reissue.type:
    case burn.type:
    case sponsorFee.type:
    case setAssetScript.type:
      return text(tx['assetId']);
    case exchange.type:
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
  const carried = type === executedContract.type ? tx['tx'] : undefined;
  return isObject(carried) ? carried : undefined;
}

function pairOf(tx: JsonObject): JsonObject {
  const order = tx['order1'];
  const pair = isObject(order) ? order['assetPair'] : undefined;
  return isObject(pair) ? pair : {};
}

export function amountOf(type: number, tx: JsonObject): bigint | undefined {
  if (type === issue.type || type === reissue.type) return int64(tx['quantity']);
  if (type === massTransfer.type) {
    const total = amountsOf(tx).reduce((sum, amount) => sum + amount, 0n);
    return int64(total);
  }
  return type <= lease.type ? int64(tx['amount']) : undefined;
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
    case issue.type:
    case setScript.type:
      return joined('name', 'description');
    case transfer.type:
    case massTransfer.type:
      return attachmentText(tx['attachment']);
    case createAlias.type:
      return text(tx['alias']);
    case createPolicy.type:
      return joined('policyName', 'description');
    case createContract.type:
    case updateContract.type:
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
const leaseToLearn = (type: number, tx: JsonObject): string | undefined =>
  type === leaseCancel.type && !isObject(tx['lease']) ? text(tx['leaseId']) : undefined;

function participantsOf(type: number, tx: JsonObject): string[] {
  const one = (value: unknown): string[] =>
    typeof value === 'string' ? [storableText(value)] : [];
  switch (type) {
    case genesis.type:
    case payment.type:
    case transfer.type:
    case lease.type:
      return one(tx['recipient']);
    case exchange.type:
      return ['order1', 'order2'].flatMap((name) =>
        one((tx[name] as JsonObject | undefined)?.['sender']),
      );
    case leaseCancel.type:
      return one((tx['lease'] as JsonObject | null | undefined)?.['recipient']);
    case massTransfer.type:
      return objects(tx['transfers']).flatMap(({ recipient }) => one(recipient));
    case data.type:
      return one(tx['author']);
    case genesisPermit.type:
    case permit.type:
    case genesisRegisterNode.type:
    case registerNode.type:
      return one(tx['target']);
    case executedContract.type:
      return one((tx['tx'] as JsonObject | undefined)?.['sender']);
    case createPolicy.type:
    case updatePolicy.type:
      return [...texts(tx['recipients']), ...texts(tx['owners'])];
    default:
      return [];
  }
}

/** Leases that the transactions end without showing them; those that they begin are added. */
export function leasesEnded(
  blocks: readonly ChainBlock[],
  lessees: Map<string, string>,
): Set<string> {
  const ended = new Set<string>();
  for (const { transactions } of blocks) {
    for (const tx of transactions) {
      const type = Number(tx['type']);
      const id = leaseToLearn(type, tx);
      if (id !== undefined) ended.add(id);
      const [lessee] = type === lease.type ? partiesOf(type, tx).participants : [];
      if (lessee !== undefined) lessees.set(text(tx['id']) ?? '', lessee);
    }
  }
  return ended;
}

/** Every alias that the transactions name or create. */
export function aliasesNamed(blocks: readonly ChainBlock[], lessees: Lessees): Set<string> {
  const names = new Set<string>();
  for (const { transactions } of blocks) {
    for (const tx of transactions) {
      const type = Number(tx['type']);
      for (const named of partiesOf(type, tx, lessees).participants) {
        const name = aliasName(named);
        if (name !== undefined) names.add(name);
      }
      const created = type === createAlias.type ? text(tx['alias']) : undefined;
      if (created !== undefined) names.add(aliasName(created) ?? created);
    }
  }
  return names;
}

const ALIAS = /^alias:.:/;

/** The bare name of `alias:T:name`; undefined for an address. */
export const aliasName = (recipient: string): string | undefined =>
  ALIAS.test(recipient) ? recipient.replace(ALIAS, '') : undefined;

/** The id of the network in `alias:T:name`. */
export const aliasChain = (alias: string): string => alias.charAt('alias:'.length);

/** Without the prefix that old clients write. */
export const bareAddress = (recipient: string): string => recipient.replace(/^address:/, '');
