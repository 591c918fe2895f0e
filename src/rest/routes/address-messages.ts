/** Signing and verifying messages with account keys. */

import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import { badField, json } from '../../rest-framework/body.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { requireSigner } from '../guards.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { Services } from '../services.ts';

const route = routesIn('addresses');

const ToSign = Type.Object({ message: Type.String(), password: Type.Optional(Type.String()) });
const Signed = Type.Object({
  message: Type.String(),
  publicKey: Type.String(),
  signature: Type.String(),
});

/** Rejects with ApiError where the keystore has no key of the account; before `shown` is called. */
async function signed(
  { bytes: address }: params.Address,
  password: string | undefined,
  message: Uint8Array,
  shown: () => string,
  { keystore }: Services,
): Promise<{ message: string; publicKey: string; signature: string }> {
  const publicKey = keystore.publicKey(address);
  if (publicKey === undefined) throw apiError('MissingSenderPrivateKey');
  const text = shown();
  const signature = await keystore.sign(address, password, message);
  return {
    message: text,
    publicKey: base58.encode(publicKey),
    signature: base58.encode(signature),
  };
}

const sign = route({
  method: 'POST',
  path: '/addresses/sign/{address}',
  access: 'signKey',
  doc: 'Signs the UTF-8 bytes of a message; the answer shows them in Base58.',
  params: { address: params.address },
  body: json(ToSign),
  reply: Signed,
  async handle({ params: { address }, body: { message, password }, http }, services) {
    requireSigner(http, address.bytes, services);
    const bytes = Buffer.from(message);
    if (bytes.length > limits.base58Message) throw apiError('TooBigSequence', 'message');
    // The text takes many milliseconds, so it belongs into the turn of this request: the keystore
    // answers all requests that wait for it in one.
    return signed(address, password, bytes, () => base58.encode(bytes), services);
  },
});

const signText = route({
  method: 'POST',
  path: '/addresses/signText/{address}',
  access: 'signKey',
  doc: 'Signs the UTF-8 bytes of a message; the answer shows the message as sent.',
  params: { address: params.address },
  body: json(ToSign),
  reply: Signed,
  async handle({ params: { address }, body: { message, password }, http }, services) {
    requireSigner(http, address.bytes, services);
    return signed(address, password, Buffer.from(message), () => message, services);
  },
});

// Clients use both spellings of the key's name.
const ToVerify = Type.Object({
  message: Type.String(),
  publickey: Type.Optional(Type.String()),
  publicKey: Type.Optional(Type.String()),
  signature: Type.String(),
});

interface Verification {
  readonly signature: string;
  readonly publickey?: string;
  readonly publicKey?: string;
}

async function verified(
  address: Uint8Array,
  message: Uint8Array,
  request: Verification,
  { scheme, verifier }: Services,
): Promise<{ valid: boolean }> {
  const keyText = request.publickey ?? request.publicKey;
  if (keyText === undefined) throw badField('publickey', 'error.path.missing');
  const signature = params.fromBase58(request.signature);
  if (signature === undefined || signature.length === 0) throw apiError('InvalidSignature');
  const key = params.readPublicKey(keyText, scheme);
  const owner = scheme.addressToText(scheme.addressOf(key)) === scheme.addressToText(address);
  if (!owner || signature.length !== SIGNATURE_BYTES) return { valid: false };
  return { valid: await verifier.verifyOne(key, message, signature) };
}

const Verdict = Type.Object({ valid: Type.Boolean() });

const verify = route({
  method: 'POST',
  path: '/addresses/verify/{address}',
  access: 'readKey',
  doc: 'Whether a signature over a Base58 message is that of the address.',
  params: { address: params.address },
  body: json(ToVerify),
  reply: Verdict,
  async handle({ params: { address }, body }, services) {
    const message = params.fromBase58(body.message, limits.base58Message);
    if (message === undefined) throw apiError('InvalidMessage');
    return await verified(address.bytes, message, body, services);
  },
});

const verifyText = route({
  method: 'POST',
  path: '/addresses/verifyText/{address}',
  access: 'readKey',
  doc: 'Whether a signature over a plain message is that of the address.',
  params: { address: params.address },
  body: json(ToVerify),
  reply: Verdict,
  handle: ({ params: { address }, body }, services) =>
    verified(address.bytes, Buffer.from(body.message), body, services),
});

export const addressMessages = { sign, signText, verify, verifyText };
