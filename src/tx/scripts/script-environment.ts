/** The state as a script sees it while it judges a transaction or an order. */
import { equal, utf8 } from '../../base/bytes.ts';
import { ADDRESS_BYTES, BLOCK_ID_BYTES, ID_BYTES } from '../../base/sizes.ts';
import { generalHashes } from '../../crypto/general-hashes.ts';
import { accountOf } from '../../ledger/accounts.ts';
import { aliasOwner } from '../../ledger/aliases.ts';
import { assetBalance } from '../../ledger/assets.ts';
import { dataEntry } from '../../ledger/data.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import type { Environment } from '../../script/evaluation/environment.ts';
import type { Context } from '../../script/language/tree.ts';
import { type CaseObject, EvaluationFailure } from '../../script/language/values.ts';
import { aliasProblem } from '../fields/recipient.ts';
import { membersOf } from '../members.ts';
import type { PlannedVerdict } from '../proof-verdicts.ts';
import type { Proven, Tx } from '../transaction.ts';
import { recordOf } from './records.ts';

/** A transaction of this chain, not read yet. */
export interface Candidate {
  readonly height: number;
  /** Bytes of the transaction. */
  readonly size: number;
  /** Reads the transaction. */
  readonly tx: () => Tx;
}

/**
 * The transaction of this chain whose id begins like the id, those of the block in the making
 * included. The caller compares the rest of the id.
 */
export type FindTransaction = (id: Uint8Array) => Candidate | undefined;

export interface Situation {
  readonly view: LedgerView;
  /** Height of the block in the making. */
  readonly height: number;
  readonly find: FindTransaction;
}

export function environmentOf(
  { view, height, find }: Situation,
  context: Context,
  tx: () => CaseObject,
  verify: Environment['verify'],
): Environment {
  const { scheme } = view;
  return {
    chainId: scheme.chainId,
    hashes: {
      ...hashes,
      secureHash: (message) => compute(() => scheme.secureHash(message)),
      charges: scheme.charges,
    },
    height: () => BigInt(height - 1),
    tx: () => compute(tx),
    verify: (message, signature, key) => compute(() => verify(message, signature, key)),
    addressOfAlias(alias) {
      requireSearchable(alias, KEY_BYTES_MAX, 'alias');
      return aliasProblem(alias) === undefined ? read(() => aliasOwner(view, alias)) : undefined;
    },
    data(address, key) {
      requireSearchable(key, KEY_BYTES_MAX - ADDRESS_BYTES, 'key');
      return read(() => dataEntry(view, address, key))?.value;
    },
    balance(address, assetId) {
      if (assetId === undefined) return read(() => accountOf(view, address)).balance;
      return assetId.length === ID_BYTES ? read(() => assetBalance(view, address, assetId)) : 0n;
    },
    isAddress: (bytes) =>
      bytes.length === ADDRESS_BYTES && scheme.addressProblem(bytes) === undefined,
    lookUp(id) {
      if (id.length !== ID_BYTES && id.length !== BLOCK_ID_BYTES) return undefined;
      const found = read(() => find(id));
      if (found === undefined) return undefined;
      const { size, height } = found;
      return {
        size,
        read() {
          const tx = read(found.tx);
          const isMeant = equal(tx.id, id);
          return {
            ...elementsIn(tx),
            height: isMeant ? height : undefined,
            record: () => (isMeant ? compute(() => recordOf(tx, scheme, context)) : undefined),
          };
        },
      };
    },
  };
}

/** What there is most of in a transaction that takes long to read. */
function elementsIn(tx: Tx): { readonly elements: number; readonly addresses: number } {
  let { elements, addresses } = tx.def.inner === undefined ? NOTHING : elementsIn(tx.def.inner(tx));
  for (const member of membersOf(tx)) {
    const inside = elementsIn(member);
    elements += inside.elements;
    addresses += inside.addresses;
  }
  for (const list of Object.values<unknown>(tx.fields)) {
    if (!Array.isArray(list)) continue;
    elements += list.length;
    // All elements of a list are of one type. A recipient may be an alias, which is charged as well.
    const [first] = list as readonly unknown[];
    if (first instanceof Uint8Array || isTransfer(first)) addresses += list.length;
  }
  return { elements, addresses };
}

const NOTHING = { elements: 0, addresses: 0 };

const isTransfer = (element: unknown): boolean =>
  typeof element === 'object' && element !== null && 'recipient' in element;

/**
 * Reads the state. An error of the engine in the middle of a script would be a failure of the script
 * (program.ts); here it is one of this node, and no other node may see its verdict.
 */
function read<T>(from: () => T): T {
  try {
    return from();
  } catch (cause) {
    if (!(cause instanceof TypeError || cause instanceof RangeError)) throw cause;
    throw new Error(`the state cannot be read: ${cause.message}`, { cause });
  }
}

/**
 * Calls what allocates. Whether there is memory or stack left differs from node to node, so it is no verdict about the
 * script. Any other error follows from the arguments, and is the same on all nodes.
 */
function compute<T>(of: () => T): T {
  try {
    return of();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new Error(`this node cannot judge a script: ${cause.message}`, { cause });
  }
}

const { keccak256, blake2b256, sha256 } = generalHashes;
const hashes = {
  keccak256: (message: Uint8Array) => compute(() => keccak256(message)),
  blake2b256: (message: Uint8Array) => compute(() => blake2b256(message)),
  sha256: (message: Uint8Array) => compute(() => sha256(message)),
};

/**
 * A chain always refused scripts that look for longer keys than this, so they fail still. No row
 * comes near it.
 */
const KEY_BYTES_MAX = 4096;

/** Throws EvaluationFailure where the text has more bytes than a script may look for. */
function requireSearchable(text: string, bytesMax: number, what: string): void {
  if (text.length > bytesMax || utf8(text).length > bytesMax) {
    throw new EvaluationFailure(`The ${what} is too long: more than ${bytesMax} bytes`);
  }
}

/** Signature checks of a script; those that were made in advance are not made again. */
export function verifying(
  { message, proofs, publicKey }: Proven,
  planned: readonly PlannedVerdict[],
  { scheme }: LedgerView,
): Environment['verify'] {
  return (text, signature, key) => {
    for (const { proof, publicKey: wanted = publicKey, isGood } of planned) {
      if (equal(key, wanted) && equal(signature, proofs[proof]!) && equal(text, message)) {
        return isGood;
      }
    }
    return scheme.verify(key, text, signature);
  };
}
