/**
 * How a transaction type is declared. One declaration gives bytes, JSON, validation, ids, OpenAPI,
 * CLI flags, documentation and test generators.
 */
import type { ApiError } from '../base/errors.ts';
import type { ChainScheme, Codec, JsonSchema, ValueOf, Writer } from '../codec/codec.ts';
import type { Ledger, LedgerView } from '../ledger/ledger.ts';
import type { CaseObject, Value } from '../script/language/values.ts';
import type { Order } from './fields/order.ts';
import type { ChainRules } from './rules/chain-rules.ts';

/** Field name → codec. Names are those of the JSON form. */
// biome-ignore lint/suspicious/noExplicitAny: a record of codecs of unrelated types
export type Fields = Record<string, Codec<any>>;
export type Values<F extends Fields> = { readonly [K in keyof F]: ValueOf<F[K]> };

/** How signature data and body are framed (transactions.md#body-full-bytes-id). */
export type Frame =
  /** 00 ‖ type ‖ version ‖ fields ‖ proofs */
  | 'proven'
  /** type ‖ version ‖ fields ‖ proofs: mass transfer v1 */
  | 'provenFlat'
  /** 00 ‖ type ‖ version ‖ fields ‖ proofs, where the zero is part of the body: exchange v2 */
  | 'provenZero'
  /** type ‖ signature ‖ type ‖ fields */
  | 'signedFirst'
  /** type ‖ fields ‖ signature */
  | 'signedLast'
  /** type ‖ fields, with a computed signature: types 1, 101, 110 */
  | 'genesis';

/**
 * One byte layout of a version: its fields in order. A name that occurs twice is written twice and
 * must be read with equal values.
 */
export interface Layout {
  readonly version: number;
  readonly frame: Frame;
  readonly fields: readonly string[];
  /** Set where one version has two layouts (type 14). */
  readonly variant?: string;
  /** Feature that must be active before this version is accepted. */
  readonly feature?: number;
  /** Bytes before the body in the signed message: type 2. */
  readonly signedPrefix?: Uint8Array;
  /** Fields whose bytes in this layout differ from those of the declaration: type 7. */
  readonly wire?: Fields;
}

/** What `apply` may know about the block around the transaction. */
export interface BlockContext {
  readonly height: number;
  /** Timestamp of the block being built or applied; in the pool: now. */
  readonly timestamp: number;
  /** Timestamp of the parent block. */
  readonly parentTimestamp: number;
  /** Address of the block's generator; absent in the pool. */
  readonly generator?: Uint8Array;
  /** Features that are active at this height (features.ts). */
  readonly features: ReadonlySet<number>;
  readonly rules: ChainRules;
}

/** Fields of a record in scripts, by name. */
export type ScriptFields = Readonly<Record<string, Value>>;

/** A message with the proofs that an account has added to it. */
export interface Proven {
  /** What a script judges in place of the key; absent: other rules judge the script. */
  readonly order?: Order;
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly proofs: readonly Uint8Array[];
}

/** What leaves the sender beside the fee; a negative amount comes in. */
export interface Spending {
  /** Undefined: the native token. */
  readonly assetId: Uint8Array | undefined;
  readonly amount: bigint;
}

/** A part of the minimum fee that grows with the transaction. */
export interface AdditionalFee<F extends Fields = Fields> {
  /** Default amount for one unit, in smallest units. */
  readonly perUnit: bigint;
  /** One unit in words, for the documentation: `two transfers`. */
  readonly unit: string;
  readonly units: (tx: Tx<F>, block: BlockContext) => number;
}

export interface TxType<F extends Fields = Fields> {
  readonly type: number;
  /** The class name in error texts, e.g. `TransferTransaction`. */
  readonly name: string;
  /** Name of the CLI sub-command and of the fee in the configuration, e.g. `transfer`. */
  readonly key: string;
  readonly doc: string;
  readonly fields: F;
  readonly layouts: readonly Layout[];
  /** Default minimum fee in smallest units; undefined: the type carries no fee. */
  readonly fee: bigint | undefined;
  /** What the size of the transaction adds to the minimum fee. */
  readonly additionalFee?: AdditionalFee<F>;
  /** The most bytes, where this differs from TX_BYTES_MAX (size.ts). */
  readonly bytesMax?: number;
  /** The refusal of more bytes; default: TooBigSequence. */
  readonly tooBig?: (actual: number, max: number) => ApiError;
  /** Features needed by every version (state.md#features). */
  readonly features?: readonly number[];
  /** Throws ApiError where it needs a feature for what its fields hold. */
  readonly guardFeatures?: (tx: Tx<F>, block: Pick<BlockContext, 'features'>) => void;
  /** True if no client may submit it: 1, 2, 101, 105, 110. */
  readonly internal?: boolean;
  /** True if the miner makes it together with its block, so that no pool holds it: 105. */
  readonly madeByMiner?: boolean;
  /** False if the keystore does not sign it although clients may submit it: type 7. */
  readonly signable?: boolean;
  /** True if answers show no version: types 1, 2, 101, 110. */
  readonly versionless?: boolean;
  /** The layouts that a request of this version may mean, the likeliest first: type 14. */
  readonly candidates?: (
    json: Record<string, unknown>,
    layouts: readonly Layout[],
  ) => readonly Layout[];
  /** Turns the accepted spellings of a request (aliases, defaults) into the declared fields. */
  readonly normalize?: (json: Record<string, unknown>) => Record<string, unknown>;
  /**
   * JSON members with the address of a key among the fields: the member and the field of the key.
   * Answers show them; a request that has one must mean the same account by it.
   */
  readonly accounts?: Readonly<Record<string, string>>;
  /** JSON fields computed from the transaction, for answers only. */
  readonly derived?: (tx: Tx<F>, scheme: ChainScheme) => Record<string, unknown>;
  readonly derivedSchema?: Record<string, JsonSchema>;
  /** The id where it is not fastHash(body). */
  readonly id?: (
    values: Values<F>,
    body: Uint8Array,
    scheme: ChainScheme,
    proofs: readonly Uint8Array[],
  ) => Uint8Array;
  /** Writes what is signed behind type and version, where it is not the fields as bytes: type 120. */
  readonly writeBody?: (out: Writer, values: Values<F>) => void;
  /** The key of the sending account; default: field senderPublicKey. */
  readonly sender?: (values: Values<F>) => Uint8Array | undefined;
  /**
   * The script that it puts into the state: 3, 13, 15. Reading one can take as long as a run, so it
   * is no part of `check`. A type that a miner makes around another one has none.
   */
  readonly newScript?: (tx: Tx<F>) => Uint8Array | undefined;
  /** Rules over several fields that need no state. Throws ApiError. */
  readonly check?: (tx: Tx<F>, scheme: ChainScheme) => void;
  /** The role that the sender needs (state.md#roles); a function where it depends on the fields. */
  readonly roles?: readonly string[] | ((tx: Tx<F>) => readonly string[]);
  /** State rules and effects, without the fee. Throws ApiError; the caller reverts the writes. */
  readonly apply?: (tx: Tx<F>, ledger: Ledger, block: BlockContext) => void;
  /** What the sender must own for it besides the fee; default: nothing. */
  readonly spends?: (tx: Tx<F>) => Spending;
  /**
   * Its own fields as scripts see them (scripts.md#case-types); absent: no script can judge it.
   * `recordOf` makes the record of an order.
   */
  readonly record?: (tx: Tx<F>, recordOf: (order: Order) => CaseObject) => ScriptFields;
  /** Assets whose scripts may judge it; default: the field assetId. */
  readonly assets?: (tx: Tx<F>) => readonly Uint8Array[];
  /** True if a block holds it only inside a 105, with its results: 103, 104, 107. */
  readonly executable?: boolean;
  /** The transaction that this one contains and executes. The sender of that transaction pays. */
  readonly inner?: (tx: Tx<F>) => Tx;
  /**
   * The transactions that enter a block with this one or not at all, in the order in which they are
   * applied. Each pays for itself, and its id counts as used.
   */
  readonly members?: (tx: Tx<F>) => readonly Tx[];
  /**
   * The form that pools hold of what a block holds, where the generator adds something: type 120.
   * Never throws: a block asks before its own signature is checked.
   */
  readonly waiting?: (tx: Tx<F>) => Tx;
  /** The parts that other accounts have signed: orders, a transaction that it carries, members. */
  readonly carried?: (tx: Tx<F>) => readonly Proven[];
  /** A key, other than the sender's, that must have signed with the first proof (H-13). */
  readonly cosigner?: (tx: Tx<F>) => Uint8Array | undefined;
  /**
   * Throws ApiError where the state refuses whom the fields name, so that nobody signs in vain. The
   * rules of the network say the same.
   */
  readonly guardNamed?: (tx: Tx<F>, view: LedgerView) => void;
  /** Account that pays the fee; default: the sender. */
  readonly payer?: (tx: Tx<F>, scheme: ChainScheme) => Uint8Array;
  /**
   * Addresses, other than the sender, whose lists contain this transaction; aliases are resolved.
   */
  readonly involved?: (tx: Tx<F>, ledger: LedgerView) => Iterable<Uint8Array>;
  /** Id of the contract that it makes, calls, changes or ends. */
  readonly contract?: (tx: Tx<F>) => Uint8Array;
}

/** A transaction in memory. Everything that costs a hash is computed once, at construction. */
export interface Tx<F extends Fields = Fields> {
  readonly def: TxType<F>;
  readonly type: number;
  readonly version: number;
  readonly layout: Layout;
  readonly fields: Values<F>;
  /** Full bytes as stored in blocks. */
  readonly bytes: Uint8Array;
  /** Signed bytes, without `signedPrefix`. */
  readonly body: Uint8Array;
  /** 32 bytes; 64 for types 1, 2, 101, 110. */
  readonly id: Uint8Array;
  /** One signature for the signature style; none for genesis types. */
  readonly proofs: readonly Uint8Array[];
  /** Empty for genesis types. */
  readonly senderPublicKey: Uint8Array;
  /** Address of the sender, 26 bytes; empty for genesis types. */
  readonly sender: Uint8Array;
  readonly fee: bigint;
  readonly timestamp: number;
}

type Optional<F extends Fields> = {
  [K in keyof F]: undefined extends ValueOf<F[K]> ? K : never;
}[keyof F];

/** Values from which a transaction is built; those that may be undefined may be left out. */
export type Input<F extends Fields> = Omit<Values<F>, Optional<F>> & {
  readonly [K in Optional<F>]?: ValueOf<F[K]> | undefined;
};

/** Keeps the inferred field types of a declaration. */
export function transaction<const F extends Fields>(def: TxType<F>): TxType<F> {
  return def;
}
