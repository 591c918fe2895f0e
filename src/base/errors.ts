/**
 * The one catalogue of refusals: name → code, HTTP status, message (rest.md#errors).
 *
 * Rules, services and routes throw `apiError('Name', …)`. The server turns it into an answer.
 * Client libraries rely on the codes and statuses, so these never change.
 */
import { ExpectedError } from './faults/expected-error.ts';

interface CatalogueEntry {
  readonly code: number;
  readonly status: number;
  // The arguments of a message may have any type; the entry's own type checks each caller.
  readonly text: (...args: never[]) => string;
  /**
   * `peer` where no honest peer forwards such an input, whatever its head; `node` where the entry
   * says nothing about the input, because this node could not do its part.
   */
  readonly fault?: 'peer' | 'node';
}

const NO_KEY = 'No API key was given: send it in the header X-API-Key';
const free = (text: string): string => text;
const entry = <T extends (...args: never[]) => string>(code: number, status: number, text: T) => ({
  code,
  status,
  text,
});
const faultOfPeer = <E extends CatalogueEntry>(of: E): E & { readonly fault: 'peer' } => ({
  ...of,
  fault: 'peer',
});
const faultOfNode = <E extends CatalogueEntry>(of: E): E & { readonly fault: 'node' } => ({
  ...of,
  fault: 'node',
});

export const catalogue = {
  Unknown: faultOfNode(entry(0, 500, () => 'Error is unknown')),
  /** Of the data service; `validationErrors` names every wrong parameter. */
  InvalidQuery: entry(1, 400, () => 'Invalid query parameters'),
  MalformedJson: entry(1, 400, () => 'failed to parse json message'),
  /** Of the data service. */
  ApiKeyMissing: entry(2, 401, () => NO_KEY),
  /** Of the node, where clients expect the status of a wrong key. */
  ApiKeyNotGiven: entry(2, 403, () => NO_KEY),
  ApiKeyNotValid: entry(2, 403, () => 'Provided API key is not correct'),
  ApiKeyExpired: entry(2, 403, (name: string) => `The API key '${name}' has expired`),
  ApiKeyScope: entry(
    2,
    403,
    (name: string, scope: string) => `The API key '${name}' does not have the scope ${scope}`,
  ),
  /** Of a listener that asks clients for certificates (rest-api.tls.client-ca). */
  ClientCertificateMissing: entry(
    2,
    403,
    () => 'No client certificate was shown, and this interface requires one',
  ),
  ClientCertificateExpired: entry(2, 403, () => 'The client certificate has expired'),
  TooBigSequence: entry(10, 400, (what?: string) =>
    what === undefined ? 'Too big sequences requested' : `Too big sequences requested: ${what}`,
  ),
  InvalidSignature: entry(101, 400, () => 'invalid signature'),
  InvalidAddress: entry(102, 400, (reason: string) => `invalid address: ${reason}`),
  InvalidSeed: entry(103, 400, () => 'invalid seed'),
  InvalidPublicKey: entry(108, 400, (reason: string) => `invalid public key: ${reason}`),
  InvalidMessage: entry(110, 400, () => 'invalid message'),
  NegativeAmount: entry(
    111,
    400,
    (amount: bigint, of: string) => `negative amount: ${amount} of ${of}`,
  ),
  StateCheckFailed: entry(112, 400, (reason: string) => `State check failed. Reason: ${reason}`),
  Overflow: entry(113, 400, () => 'overflow error'),
  NegativeMinFee: entry(114, 400, (of: string) => `negative fee per: ${of}`),
  MissingSenderPrivateKey: entry(
    115,
    400,
    () => 'no private key for sender address in wallet or provided password is incorrect',
  ),
  InvalidName: entry(116, 400, () => 'invalid name'),
  LastOfRole: entry(
    117,
    400,
    (role: string, address: string) =>
      `Trying to revoke role '${role}' from it's last owner: '${address}'`,
  ),
  InvalidAssetId: entry(118, 400, free),
  InvalidHash: entry(122, 400, (reason: string) => `invalid hash: ${reason}`),
  /**
   * The signature of a transaction, or of a part of it, is wrong, and its account has no script. It
   * says nothing about the peer that sent it, whose head may have the script (tx/wrong-proof.ts).
   */
  WrongProof: entry(112, 400, (reason: string) => `State check failed. Reason: ${reason}`),
  /** No transaction has this type and version, or clients may not send it. */
  BadTransactionType: faultOfPeer(
    entry(
      199,
      400,
      (type: number | bigint, version: number | bigint) =>
        `Bad transaction type (${type}) and version (${version})`,
    ),
  ),
  /** The clock of the generator is ahead, or the clock of this node is behind. */
  BlockFromFuture: entry(199, 400, (timestamp: number) => `BlockFromFuture(${timestamp})`),
  /** The block in the making has no room for this transaction; a later block may have. */
  BlockFull: entry(199, 400, (why: string) => `Limit of txs was reached: ${why}`),
  /** Every other refusal of an input; the text is the reason. */
  Invalid: entry(199, 400, free),
  /** The record that would undo the block is no longer kept. */
  UndoMissing: faultOfNode(
    entry(199, 400, (height: number) => `Block ${height} is too old to be rolled back`),
  ),
  /** No rule refuses the input, but this node cannot handle it. */
  Unhandled: faultOfNode(entry(199, 400, (why: string) => `it cannot be handled: ${why}`)),
  BlockNotFound: entry(301, 404, (id: string) => `block with signature '${id}' does not exist`),
  AliasNotFound: entry(302, 404, (alias: string) => `alias '${alias}' doesn't exist`),
  Mistiming: entry(303, 400, free),
  NoDataForKey: entry(304, 404, (key: string) => `no data for this key: ${key}`),
  ScriptFailed: entry(306, 400, (what: string) => `Error while executing ${what}`),
  ScriptDenied: entry(307, 400, (what: string) => `Transaction is not allowed by ${what}`),
  HeightTooBig: entry(
    310,
    400,
    (asked: number, height: number) =>
      `Requested height '${asked}' is greater than current state height '${height}'`,
  ),
  /** Declared budgets (docs/limits.md); the text says which one is exceeded. */
  AnswerTooBig: entry(
    413,
    413,
    (why: string) => `The answer is too big: ${why}. Ask for less at a time`,
  ),
  NotFound: entry(404, 404, () => 'The requested resource could not be found'),
  TooManyRequests: faultOfNode(entry(429, 429, () => 'Too many requests')),
  /** The data service cannot answer now; the text says why. */
  DataUnavailable: faultOfNode(entry(503, 503, free)),
  QueryTooSlow: faultOfNode(entry(504, 504, () => 'Query took too long, narrow the filters')),
  Overloaded: faultOfNode(entry(503, 503, () => 'Server is overloaded')),
  /** A feature that a later release brings; the text says which. */
  NotAvailable: entry(199, 400, (what: string) => `${what} is not available on this node`),
  /** Its results would need a run inside the group. */
  ContractInAtomic: entry(
    199,
    400,
    (id: string) =>
      `The contract transaction '${id}' cannot be a part of an atomic transaction: this network runs no contracts inside atomic transactions`,
  ),
  ContractNotFound: entry(600, 404, (id: string) => `Contract '${id}' is not found`),
  ExecutedNotFound: entry(
    601,
    404,
    (id: string) => `Executed transaction is not found for transaction with txId = ${id}`,
  ),
  ContractDisabled: entry(
    602,
    400,
    (id: string) => `Contract '${id}' has been disabled. You cannot call disabled contract`,
  ),
  ContractAlreadyDisabled: entry(
    603,
    400,
    (id: string) => `Contract '${id}' has been already disabled`,
  ),
  ContractTooBig: entry(
    604,
    400,
    (actual: number, max: number) =>
      `Contract transaction too big, actual size ${actual} bytes, expected size ${max} bytes`,
  ),
  ExecutionResultNotFound: entry(
    605,
    404,
    (id: string) => `Contract execution result is not found for transaction with txId = '${id}'`,
  ),
  NotInNetwork: entry(
    606,
    401,
    (address: string) => `Address '${address}' does not have access to the network`,
  ),
  PolicyDataTooBig: entry(
    607,
    400,
    (actual: number, max: number) =>
      `Policy data too big, actual size '${actual}' bytes, max size '${max}' bytes`,
  ),
  /** The storage of confidential data is full, broken or unreachable; the log says why. */
  StorageFailed: faultOfNode(entry(609, 500, () => 'DB error')),
  ForceSyncFailed: faultOfNode(entry(610, 500, () => 'Force sync error')),
  BodyTooBig: entry(
    611,
    400,
    (actual: number, max: number) =>
      `HttpEntity too big, actual size '${actual}' bytes, max size '${max}' bytes`,
  ),
  PolicyNotFound: entry(612, 400, (text = 'The requested policy ID does not exist') => text),
  PrivacyOff: entry(613, 400, () => 'The privacy feature is switched off'),
  PrivacyApiKeyNotGiven: entry(
    614,
    403,
    () => 'No privacy API key was given: send it in the header X-API-Key',
  ),
  PrivacyApiKeyNotValid: entry(614, 403, () => 'Provided privacy API key is not correct'),
  PolicyDataExists: entry(
    615,
    400,
    (hash: string) => `The specified dataset with hash ${hash} was added earlier`,
  ),
  PolicyDataMissing: entry(
    617,
    400,
    (hash: string) => `The requested dataset ${hash} is missing in privacy storage`,
  ),
  /** A contract asked without the token of an execution, or with one that opens nothing. */
  ContractTokenMissing: entry(
    618,
    401,
    () => 'Authorization error. Missing authorization metadata',
  ),
  ContractTokenInvalid: entry(622, 401, () => 'Authorization error. Invalid token'),
  BadKeyFilter: entry(
    629,
    400,
    (pattern: string) => `Keys filter parameter has invalid regex pattern '${pattern}'`,
  ),
  StatusCheckFailed: faultOfNode(entry(640, 503, free)),
  /** Less space is free than storage.free-space-min. */
  DiskLow: faultOfNode(
    entry(640, 503, () => 'the disk of the node is almost full, so it takes no transactions'),
  ),
  SignerAway: faultOfNode(entry(640, 503, () => 'the signer of this node does not answer')),
  /** What its configuration permits, and what it has signed before, are not for a client to know in full. */
  SignerRefused: faultOfNode(
    entry(115, 400, (why: string) => `the signer of this node refuses: ${why}`),
  ),
  /**
   * A row of the store was changed on the disk. The node stops and rebuilds its chain at the next
   * start.
   */
  StoreDamaged: faultOfNode(entry(640, 503, () => 'the chain on disk is damaged')),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorName = keyof typeof catalogue;
/** The entries that say nothing about an input. */
type NodeErrorName = {
  [N in ErrorName]: (typeof catalogue)[N] extends { readonly fault: 'node' } ? N : never;
}[ErrorName];
type Args<N extends ErrorName> = Parameters<(typeof catalogue)[N]['text']>;

/**
 * An answer with a code of the catalogue: a Refusal or an OwnFailure. `extra` is added to the body
 * beside the code.
 */
export abstract class ApiError extends ExpectedError {
  override name = 'ApiError';
  readonly entry: ErrorName;
  readonly code: number;
  readonly status: number;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(entry: ErrorName, message: string, extra: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.entry = entry;
    this.code = catalogue[entry].code;
    this.status = catalogue[entry].status;
    this.extra = extra;
  }

  /** As the catalogue says. */
  get fault(): CatalogueEntry['fault'] {
    const { fault }: CatalogueEntry = catalogue[this.entry];
    return fault;
  }

  /** The same with more fields in its body. */
  with(extra: Readonly<Record<string, unknown>>): ApiError {
    return made(this.entry, this.message, { ...this.extra, ...extra });
  }

  get body(): Record<string, unknown> {
    return { error: this.code, message: this.message, ...this.extra };
  }
}

/**
 * A rule says that an input is wrong. Penalties of peers and the memory of invalid blocks take
 * nothing else (network/sessions/session.ts, chain/fork/bad-block.ts), so that an error of this machine
 * is never held against a peer or a block.
 */
export class Refusal extends ApiError {
  /** Makes the class a type of its own for the compiler. */
  declare protected readonly isByRule: true;

  override with(extra: Readonly<Record<string, unknown>>): Refusal {
    return new Refusal(this.entry, this.message, { ...this.extra, ...extra });
  }
}

/**
 * This node could not do its part: its disk refuses a write, it is overloaded, a thread has died.
 * The input may be correct, so neither a peer, a block nor a client is to blame.
 */
export class OwnFailure extends ApiError {
  override name = 'OwnFailure';
  declare protected readonly isOwn: true;
}

type Thrown<N extends ErrorName> = N extends NodeErrorName ? OwnFailure : Refusal;

/** The catalogue decides whether this is a refusal of an input or a failure of this node. */
export function apiError<N extends ErrorName>(name: N, ...args: Args<N>): Thrown<N> {
  const text = catalogue[name].text as (...args: Args<N>) => string;
  return made(name, text(...args)) as Thrown<N>;
}

function made(name: ErrorName, message: string, extra = {}): ApiError {
  const { fault }: CatalogueEntry = catalogue[name];
  return fault === 'node'
    ? new OwnFailure(name, message, extra)
    : new Refusal(name, message, extra);
}

/** A refusal by a rule of the state: code 112 with its reason. */
export const refused = (reason: string): Refusal => apiError('StateCheckFailed', reason);
