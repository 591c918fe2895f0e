/**
 * What a request about a transaction must hold before its own codec looks at it: type, sender and
 * password, and which types a client may ask for (rest-api.md §2.3, §4.7, §4.8).
 */
import { apiError } from '../base/errors.ts';
import { type JsonObject, stringify } from '../base/json.ts';
import type { Chain } from '../codec/codec.ts';
import { malformed } from './answer.ts';
import { badField } from './body.ts';
import { readAddress } from './params.ts';

const EXCHANGE = 7;
const EXECUTED = 105;
const POLICY_DATA_HASH = 114;
/** Genesis, payment and the genesis forms of permission and registration. */
const NEVER_SENT: ReadonlySet<number> = new Set([1, 2, 101, 110]);
const NEVER_SIGNED: ReadonlySet<number> = new Set([...NEVER_SENT, EXCHANGE, EXECUTED]);
const SHOWN_CHARS = 500;

/** The type number. Throws ApiError MalformedJson where it is absent or no number. */
export function typeOf(body: JsonObject): number {
  const type = body['type'];
  if (type === undefined || type === null) {
    throw malformed({
      obj: [
        `'type' is undefined on object: ${stringify(withoutPassword(body)).slice(0, SHOWN_CHARS)}`,
      ],
    });
  }
  const number = typeof type === 'string' && /^\d{1,9}$/.test(type) ? Number(type) : type;
  if (typeof number !== 'number') throw badField('type', 'error.expected.jsnumber');
  if (!Number.isInteger(number)) throw badField('type', 'error.expected.byte');
  return number;
}

function withoutPassword(body: JsonObject): JsonObject {
  const { password: _, ...rest } = body;
  return rest;
}

function versionOf(body: JsonObject): unknown {
  const version = body['version'];
  return version === undefined || version === null ? 1 : version;
}

/** Throws ApiError where the type cannot come from a client. */
export function forBroadcast(body: JsonObject): void {
  const type = typeOf(body);
  if (type === EXECUTED) {
    throw apiError('Invalid', 'ExecutedContract transaction is not allowed to be broadcasted');
  }
  if (NEVER_SENT.has(type)) {
    throw apiError('Invalid', `Bad transaction type (${type}) and version (${versionOf(body)})`);
  }
  if (type === POLICY_DATA_HASH) {
    const version = versionOf(body);
    throw apiError(
      'Invalid',
      `PolicyDataHash V${version} transaction is not allowed to be broadcasted`,
    );
  }
}

/** Sender and password of a request to sign. Throws ApiError. */
export function forSigning(
  body: JsonObject,
  codec: Chain,
): { readonly sender: Uint8Array; readonly password: string | undefined } {
  const type = typeOf(body);
  if (NEVER_SIGNED.has(type)) throw apiError('Invalid', 'UnsupportedTransactionType');
  return { sender: readSender(body, codec), password: optionalText(body, 'password') };
}

function readSender(body: JsonObject, codec: Chain): Uint8Array {
  const sender = optionalText(body, 'sender');
  if (sender === undefined) throw badField('sender', 'error.path.missing');
  return readAddress(sender, codec).bytes;
}

function optionalText(body: JsonObject, field: string): string | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw badField(field, 'error.expected.jsstring');
  return value;
}
