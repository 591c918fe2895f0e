/**
 * Encryption for a group (rest-api.md §16). Requests are judged in full; the encryption itself
 * comes with the confidential data.
 */
import Type from 'typebox';
import { apiError } from '../../base/errors.ts';
import { json } from '../body.ts';
import { limits } from '../limits.ts';
import * as params from '../params.ts';
import { route } from '../route.ts';
import type { Services } from '../services.ts';

const group = 'crypto';

const ToEncrypt = Type.Object({
  sender: Type.String(),
  password: Type.Optional(Type.String()),
  encryptionText: Type.String(),
  recipientsPublicKeys: Type.Array(Type.String()),
});

function requireKey(address: string, { codec, keystore }: Services): void {
  const { bytes } = params.readAddress(address, codec);
  if (keystore.publicKey(bytes) === undefined) throw apiError('MissingSenderPrivateKey');
}

function judge(
  body: { readonly sender: string; readonly recipientsPublicKeys: readonly string[] },
  services: Services,
): never {
  requireKey(body.sender, services);
  for (const key of body.recipientsPublicKeys) params.readPublicKey(key, services.codec);
  throw apiError('NotAvailable', 'Encryption');
}

const encryptSeparate = route({
  method: 'POST',
  path: '/crypto/encryptSeparate',
  access: 'cryptoKey',
  group,
  doc: 'Encrypts a text for each recipient with a key of its own.',
  maxBody: limits.body.crypto,
  body: json(ToEncrypt),
  reply: Type.Array(
    Type.Object({
      encryptedText: Type.String(),
      publicKey: Type.String(),
      wrappedKey: Type.String(),
    }),
  ),
  handle: ({ body }, services) => judge(body, services),
});

const encryptCommon = route({
  method: 'POST',
  path: '/crypto/encryptCommon',
  access: 'cryptoKey',
  group,
  doc: 'Encrypts a text once, with its key wrapped for each recipient.',
  maxBody: limits.body.crypto,
  body: json(ToEncrypt),
  reply: Type.Object({
    encryptedText: Type.String(),
    recipientToWrappedStructure: Type.Record(Type.String(), Type.String()),
  }),
  handle: ({ body }, services) => judge(body, services),
});

const decrypt = route({
  method: 'POST',
  path: '/crypto/decrypt',
  access: 'cryptoKey',
  group,
  doc: 'Decrypts a text for a key of the keystore.',
  maxBody: limits.body.crypto,
  body: json(
    Type.Object({
      recipient: Type.String(),
      password: Type.Optional(Type.String()),
      encryptedText: Type.String(),
      wrappedKey: Type.String(),
      senderPublicKey: Type.String(),
    }),
  ),
  reply: Type.Object({ decryptedText: Type.String() }),
  handle({ body }, services) {
    requireKey(body.recipient, services);
    params.readPublicKey(body.senderPublicKey, services.codec);
    throw apiError('NotAvailable', 'Decryption');
  },
});

export const crypto = { encryptSeparate, encryptCommon, decrypt };
