/** Encryption between accounts, with keys of the keystore. */

import { base58 } from '../../base/base58.ts';
import { fromUtf8, utf8 } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type { HttpRequest } from '../../base/ports/http.ts';
import { badField, json, list } from '../../rest-framework/body.ts';
import * as params from '../../rest-framework/params.ts';
import { type Static, Type } from '../../rest-framework/type.ts';
import { common, decrypted, separate } from '../encryption.ts';
import { requireSigner } from '../guards.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { Services } from '../services.ts';

const route = routesIn('crypto');

const description =
  'The only one of the network and the default: aes, or with national cryptography gost-3412-2015-k.';
const algorithm = { cryptoAlgo: Type.Optional(Type.String({ description })) };

const ToEncrypt = Type.Object({
  sender: Type.String(),
  password: Type.Optional(Type.String()),
  encryptionText: Type.String(),
  recipientsPublicKeys: list(Type.String(), limits.encryption.recipients),
  ...algorithm,
});

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

function checkAlgorithm(
  { cryptoAlgo }: { readonly cryptoAlgo?: string },
  { family }: Pick<Services, 'family'>,
): void {
  if (cryptoAlgo === undefined || cryptoAlgo === family.messageCipher) return;
  throw badField('cryptoAlgo', 'error.expected.validenumvalue');
}

/** The checked parts of a request to encrypt; `copies`: encrypted once for each recipient. */
function readRequest(
  body: Static<typeof ToEncrypt>,
  copies: boolean,
  http: HttpRequest,
  services: Services,
) {
  const { family, scheme, keystore } = services;
  checkAlgorithm(body, { family });
  const sender = params.readAddress(body.sender, scheme).bytes;
  if (services.settings.cryptoApiKey) requireSigner(http, sender, services);
  // Checked before the keys are read: there may be many, and without this key nothing can be done.
  if (keystore.publicKey(sender) === undefined) throw apiError('MissingSenderPrivateKey');
  const keys = body.recipientsPublicKeys;
  const plain = utf8(body.encryptionText);
  if (copies && keys.length * plain.length > limits.encryption.separateBytes) {
    throw apiError('TooBigSequence', 'the same text for so many; use encryptCommon');
  }
  const recipients = keys.map((key) => params.readPublicKey(key, scheme));
  return { from: { address: sender, password: body.password }, recipients, plain };
}

const encryptSeparate = route({
  method: 'POST',
  path: '/crypto/encryptSeparate',
  access: 'cryptoKey',
  doc: 'Encrypts a text for each recipient separately, each with its own key.',
  cost: { bytesIn: limits.body.encrypt },
  body: json(ToEncrypt),
  reply: Type.Array(
    Type.Object({
      encryptedText: Type.String(),
      publicKey: Type.String(),
      wrappedKey: Type.String(),
    }),
  ),
  async handle({ body, http }, services) {
    const { from, recipients, plain } = readRequest(body, true, http, services);
    const envelopes = await separate(from, recipients, plain, services);
    return envelopes.map(({ sealed, wrappedKey }, i) => ({
      encryptedText: base64(sealed),
      publicKey: body.recipientsPublicKeys[i]!,
      wrappedKey: base58.encode(wrappedKey),
    }));
  },
});

const encryptCommon = route({
  method: 'POST',
  path: '/crypto/encryptCommon',
  access: 'cryptoKey',
  doc: 'Encrypts a text once, and wraps its key for each recipient.',
  cost: { bytesIn: limits.body.encrypt },
  body: json(ToEncrypt),
  reply: Type.Object({
    encryptedText: Type.String(),
    recipientToWrappedStructure: Type.Record(Type.String(), Type.String()),
  }),
  async handle({ body, http }, services) {
    const { from, recipients, plain } = readRequest(body, false, http, services);
    const { sealed, wrappedKeys } = await common(from, recipients, plain, services);
    const wrapped = wrappedKeys.map((key, i) => [
      body.recipientsPublicKeys[i]!,
      base58.encode(key),
    ]);
    return {
      encryptedText: base64(sealed),
      recipientToWrappedStructure: Object.fromEntries(wrapped),
    };
  },
});

const decrypt = route({
  method: 'POST',
  path: '/crypto/decrypt',
  access: 'cryptoKey',
  doc: 'Decrypts a text for a key of the keystore; the text may be Base64 or, from older clients, Base58.',
  cost: { bytesIn: limits.body.decrypt },
  body: json(
    Type.Object({
      recipient: Type.String(),
      password: Type.Optional(Type.String()),
      encryptedText: Type.String(),
      wrappedKey: Type.String(),
      senderPublicKey: Type.String(),
      ...algorithm,
    }),
  ),
  reply: Type.Object({ decryptedText: Type.String() }),
  async handle({ body, http }, services) {
    const { scheme } = services;
    checkAlgorithm(body, services);
    const recipient = params.readAddress(body.recipient, scheme).bytes;
    if (services.settings.cryptoApiKey) requireSigner(http, recipient, services);
    const sender = params.readPublicKey(body.senderPublicKey, scheme);
    const { password, encryptedText, wrappedKey } = body;
    const to = { address: recipient, password };
    const plain = await decrypted(to, sender, encryptedText, wrappedKey, services);
    if (plain === undefined) {
      const why = 'text, wrapped key and accounts do not belong together';
      throw apiError('Invalid', `Decryption failed: ${why}`);
    }
    const decryptedText = fromUtf8(plain);
    if (decryptedText === undefined) {
      throw apiError('Invalid', 'Decryption failed: what was encrypted is not a UTF-8 text');
    }
    return { decryptedText };
  },
});

export const crypto = { encryptSeparate, encryptCommon, decrypt };
