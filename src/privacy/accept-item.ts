/**
 * POST /privacy/sendData: accepts data of a policy from a client (privacy.md#sending).
 *
 * Invariants: the checks come in the order of privacy.md#sending; data are stored only with a
 * transaction that the pool would accept, and a transaction is sent only with durable data;
 * repeating a request is harmless, whatever the outcome of the first one.
 */

import { base58 } from '../base/base58.ts';
import { decodeBase64, decodedLength } from '../base/base64.ts';
import { equal } from '../base/bytes.ts';
import { apiError, refused } from '../base/errors.ts';
import { decodeHex, SHA256_HEX } from '../base/hex.ts';
import type { Clock } from '../base/ports.ts';
import { PRIVATE_DATA_BYTES_MAX, type PrivateStore, wrongHash } from '../base/private-store.ts';
import { ID_BYTES } from '../base/sizes.ts';
import { createTurns, takingTurns } from '../base/turns.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { sha256 } from '../crypto/sha256.ts';
import type { KeyedView } from '../ledger/head.ts';
import { boundHash, isMember, policyOf, RECIPIENT } from '../ledger/policies.ts';
import { unsignedFromJson } from '../tx/json/encode.ts';
import type { Tx } from '../tx/transaction.ts';
import { policyDataHash } from '../tx/types/114-policy-data-hash.ts';
import { type ItemId, itemKey } from './item-id.ts';
import { TEXT_CHARS_MAX } from './privacy-messages.ts';

/** The request of a client; its texts are still to be decoded. */
export interface DataToSend {
  readonly sender: string;
  readonly password?: string | undefined;
  readonly policyId: string;
  readonly type?: string | undefined;
  readonly info: {
    readonly filename: string;
    readonly size: string | number | bigint;
    readonly timestamp: number | bigint;
    readonly author: string;
    readonly comment: string;
  };
  /**
   * Base64, as a text or as its ASCII bytes; those are decoded before the call returns unless they are
   * more than one window of the decoder.
   */
  readonly data: string | Uint8Array;
  readonly hash: string;
  readonly version?: number | undefined;
  readonly fee?: number | bigint | undefined;
  readonly feeAssetId?: string | undefined;
  readonly timestamp?: number | bigint | undefined;
}

export interface SendPorts {
  readonly scheme: ChainScheme;
  readonly view: KeyedView;
  readonly store: PrivateStore;
  readonly clock: Clock;
  /** `privacy.owner-address`. */
  readonly ownerAddress: Uint8Array;
  readonly keystore: {
    publicKey(address: Uint8Array): Uint8Array | undefined;
    /** Throws or rejects with MissingSenderPrivateKey. */
    sign(
      address: Uint8Array,
      password: string | undefined,
      message: Uint8Array,
    ): Uint8Array | Promise<Uint8Array>;
  };
  readonly pool: {
    /** Throws ApiError where `submit` would refuse it. */
    check(tx: Tx): void;
    submit(tx: Tx): Promise<Tx>;
    get(id: Uint8Array): Tx | undefined;
  };
  /** The minimum fee. */
  readonly feeOf: (tx: Tx) => bigint;
  /** Called when the transaction is in the pool; other nodes may soon ask for the data. */
  readonly onSent: (item: ItemId) => void;
}

/** Bytes of the Base64 texts that are being processed; more are refused meanwhile. */
const TEXT_BYTES_MAX = 128 * 1024 * 1024;
/** Remembered transactions that are not yet in a block, by the policy and hash that they bind. */
const SENT_MAX = 10_000;

/** Resolves with the transaction. Rejects with ApiError and PrivateStoreError. */
export type SendData = (request: DataToSend, broadcast: boolean) => Promise<Tx>;

export function createSendData(ports: SendPorts): SendData {
  const { scheme, view, store, clock, pool, keystore, ownerAddress } = ports;
  const sent = new Map<string, Uint8Array>();
  const busy = new Map<string, Promise<unknown>>();
  let textBytes = 0;

  async function send(request: DataToSend, broadcast: boolean): Promise<Tx> {
    checkFee(request);
    checkTexts(request);
    const data = await takingTurns(dataOf(request.data), createTurns(clock));
    const hash = hashOf(request.hash);
    const policyId = policyIdOf(request.policyId);
    const item = { policyId, hash };
    const tx = await signed(request, item);
    const policy = policyId.length === ID_BYTES ? policyOf(view, policyId) : undefined;
    if (policy === undefined) throw apiError('PolicyNotFound');
    if (!isMember(view, policyId, RECIPIENT, ownerAddress)) {
      throw refused(`Sender '${scheme.addressToText(ownerAddress)}' is not in policy recipients`);
    }
    const actual = sha256(data);
    if (!equal(actual, hash)) throw wrongHash(actual, hash).answer;
    return alone(itemKey(item), async () => {
      if (boundHash(view, policyId, hash) !== undefined) {
        throw apiError('PolicyDataExists', base58.encode(hash));
      }
      const waiting = broadcast ? pool.get(sent.get(itemKey(item)) ?? NO_ID) : undefined;
      if (waiting !== undefined) return waiting;
      pool.check(tx);
      await store.write({ ...item, ...describe(request) }, inOne(data));
      return broadcast ? submit(tx, item) : tx;
    });
  }

  /**
   * The complete 114. Making it proves that the keystore has the key and that the password is
   * right.
   */
  async function signed(request: DataToSend, { policyId, hash }: ItemId): Promise<Tx> {
    const sender = scheme.addressFromText(request.sender);
    if (!equal(sender, ownerAddress)) {
      throw apiError(
        'Invalid',
        `Sender '${request.sender}' is not the owner '${scheme.addressToText(ownerAddress)}' of the private data of this node`,
      );
    }
    const { version = 1, fee, feeAssetId, timestamp, password } = request;
    const draft = unsignedFromJson(
      {
        type: policyDataHash.type,
        version,
        sender: request.sender,
        policyId: base58.encode(policyId),
        dataHash: base58.encode(hash),
        fee,
        feeAssetId,
        timestamp,
      },
      scheme,
      {
        publicKeyOf: (address) => keystore.publicKey(address),
        timestamp: clock.now(),
        feeOf: ports.feeOf,
      },
    );
    return draft.seal([await keystore.sign(sender, password, draft.message)]);
  }

  /** Requests about the same data run one after the other. */
  async function alone<T>(key: string, action: () => Promise<T>): Promise<T> {
    const mine = (busy.get(key) ?? Promise.resolve()).then(action, action);
    busy.set(key, mine);
    try {
      return await mine;
    } finally {
      if (busy.get(key) === mine) busy.delete(key);
    }
  }

  async function submit(tx: Tx, item: ItemId): Promise<Tx> {
    const pooled = await pool.submit(tx);
    sent.set(itemKey(item), pooled.id);
    if (sent.size > SENT_MAX) sent.delete(sent.keys().next().value ?? '');
    ports.onSent(item);
    return pooled;
  }

  const describe = ({ type = 'file', info }: DataToSend) => ({
    sender: ownerAddress,
    type,
    filename: info.filename,
    size: String(info.size),
    timestamp: BigInt(info.timestamp),
    author: info.author,
    comment: info.comment,
  });

  return async (request, broadcast) => {
    const { length } = request.data;
    if (textBytes + length > TEXT_BYTES_MAX) throw apiError('Overloaded');
    textBytes += length;
    try {
      return await send(request, broadcast);
    } finally {
      textBytes -= length;
    }
  };
}

const NO_ID = new Uint8Array(0);

function checkFee({ version = 1, feeAssetId }: DataToSend): void {
  if (version === 1 && feeAssetId !== undefined) {
    throw apiError(
      'Invalid',
      `'feeAssetId' field is not allowed for the SendDataRequest version '1'`,
    );
  }
}

function checkTexts({ type = '', info }: DataToSend): void {
  const texts: readonly (readonly [name: string, text: string])[] = [
    ['File name', info.filename],
    ['Author name', info.author],
    ['Comment', info.comment],
    ['Size', String(info.size)],
    ['Type', type],
  ];
  for (const [name, { length }] of texts) {
    if (length > TEXT_CHARS_MAX) {
      const why = `${name} is too long '${length}', maximum is '${TEXT_CHARS_MAX}'`;
      throw apiError('Invalid', why);
    }
  }
}

/** Work in steps. Throws ApiError. */
function* dataOf(text: string | Uint8Array): Generator<undefined, Uint8Array> {
  const size = decodedLength(text) ?? 0;
  if (size > PRIVATE_DATA_BYTES_MAX) {
    throw apiError('PolicyDataTooBig', size, PRIVATE_DATA_BYTES_MAX);
  }
  const data = yield* decodeBase64(text);
  if (data !== undefined) return data;
  throw apiError('Invalid', 'Failed to decode policy data: it is not Base64');
}

const BASE58_CHARS_MAX = 128;
const SHOWN_CHARS_MAX = 200;

/** Base58 of 32 bytes, or 64 hex digits. Throws ApiError. */
export function hashOf(text: string): Uint8Array {
  if (SHA256_HEX.test(text)) return decodeHex(text);
  const why = `Failed to decode policy data hash: '${text.slice(0, SHOWN_CHARS_MAX)}'`;
  const bytes = decode58(text, why);
  if (bytes.length !== ID_BYTES) throw apiError('Invalid', 'Invalid policy data hash length');
  return bytes;
}

/** Accepts any length: bytes that are no id match no policy. Throws ApiError. */
export const policyIdOf = (text: string): Uint8Array =>
  decode58(text, `Failed to decode policyId: '${text.slice(0, SHOWN_CHARS_MAX)}'`);

function decode58(text: string, why: string): Uint8Array {
  try {
    return base58.decode(text, BASE58_CHARS_MAX);
  } catch {
    throw apiError('Invalid', why);
  }
}

async function* inOne(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}
