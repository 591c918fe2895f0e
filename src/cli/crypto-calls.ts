/**
 * The work of the crypto commands, through a node's REST interface or with the key of a seed
 * phrase.
 */
import { systemRandom } from '../adapters/system.ts';
import { base58 } from '../base/base58.ts';
import { fromUtf8, utf8 } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import { isObject, type JsonObject } from '../base/json/json.ts';
import {
  decryptText,
  ENCRYPTED_TEXT_LENGTH_MAX,
  type Envelope,
  encryptCommon,
  encryptSeparate,
} from '../crypto/envelope.ts';
import { configuredFamily } from '../crypto/families.ts';
import { CryptoError, type CryptoFamily } from '../crypto/family.ts';
import { crypto } from '../rest/routes/crypto.ts';
import { keyOfSeedFile } from './commands/keystore/seed-phrase.ts';
import type { NodeFlags } from './node-options.ts';
import { answerOf, convertByNode } from './rest-calls.ts';
import { passwordOf } from './signed-calls.ts';
import { convertAll, parseJson } from './terminal/documents.ts';
import { CliError, EXIT } from './terminal/exit.ts';
import { readAll, readLines } from './terminal/lines.ts';
import { printJson } from './terminal/output.ts';

interface KeyFlags extends NodeFlags {
  passwordEnv?: string;
  seedFile?: string;
  nationalCrypto?: true;
}

export interface EncryptFlags extends KeyFlags {
  to: readonly string[];
  separate?: true;
  sender?: string;
}

export interface DecryptFlags extends KeyFlags {
  recipient?: string;
}

export interface ConvertFlags {
  to: 'base58' | 'base64';
}

interface Encrypted {
  readonly encryptedText: string;
  readonly publicKey: string;
  readonly wrappedKey: string;
  readonly senderPublicKey: string;
}

const familyOf = ({ nationalCrypto }: KeyFlags): CryptoFamily =>
  configuredFamily(nationalCrypto !== true);

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

export async function encrypt(source: string, flags: EncryptFlags): Promise<void> {
  const lines =
    flags.seedFile === undefined
      ? await encryptByNode(source, flags)
      : await encryptHere(source, flags.seedFile, flags);
  for (const line of lines) printJson(line);
}

async function encryptByNode(source: string, flags: EncryptFlags): Promise<readonly Encrypted[]> {
  const sender = needed(flags.sender, '--sender');
  const body = {
    sender,
    ...passwordOf(flags),
    encryptionText: await readAll(source),
    recipientsPublicKeys: [...flags.to],
  };
  return answerOf(flags, async ({ call }) => {
    const { addresses } = await import('../rest/routes/addresses.ts');
    const { publicKey: senderPublicKey } = await call(addresses.info, {
      params: { address: sender },
    });
    if (flags.separate === true) {
      const list = await call(crypto.encryptSeparate, { body });
      return list.map((one) => ({ ...one, senderPublicKey }));
    }
    const { encryptedText, recipientToWrappedStructure } = await call(crypto.encryptCommon, {
      body,
    });
    return Object.entries(recipientToWrappedStructure).map(([publicKey, wrappedKey]) => ({
      encryptedText,
      publicKey,
      wrappedKey,
      senderPublicKey,
    }));
  });
}

async function encryptHere(
  source: string,
  seedFile: string,
  flags: EncryptFlags,
): Promise<readonly Encrypted[]> {
  const family = familyOf(flags);
  const own = await keyOfSeedFile(seedFile, source, family);
  const recipients = flags.to.map((text) => publicKeyOf(text, family));
  const plain = utf8(await readAll(source));
  const senderPublicKey = base58.encode(own.publicKey);
  try {
    const { privateKey } = own;
    const envelopes =
      flags.separate === true
        ? await encryptSeparate(family, privateKey, recipients, plain, systemRandom)
        : await oneForAll(family, privateKey, recipients, plain);
    return envelopes.map(({ sealed, wrappedKey }, i) => ({
      encryptedText: base64(sealed),
      publicKey: flags.to[i]!,
      wrappedKey: base58.encode(wrappedKey),
      senderPublicKey,
    }));
  } catch (cause) {
    throw cause instanceof CryptoError ? new CliError(cause.message) : cause;
  } finally {
    own.privateKey.fill(0);
  }
}

async function oneForAll(
  family: CryptoFamily,
  privateKey: Uint8Array,
  recipients: readonly Uint8Array[],
  plain: Uint8Array,
): Promise<readonly Envelope[]> {
  const group = await encryptCommon(family, privateKey, recipients, plain, systemRandom);
  return group.wrappedKeys.map((wrappedKey) => ({ sealed: group.sealed, wrappedKey }));
}

export async function decrypt(source: string, flags: DecryptFlags): Promise<void> {
  if (flags.seedFile !== undefined) return decryptHere(source, flags.seedFile, flags);
  const recipient = needed(flags.recipient, '--recipient');
  await convertByNode(documents(source), flags, async ({ call }, json) => {
    const body = { recipient, ...passwordOf(flags), ...envelopeOf(json) };
    return call(crypto.decrypt, { body });
  });
}

async function decryptHere(source: string, seedFile: string, flags: KeyFlags): Promise<void> {
  const family = familyOf(flags);
  const { privateKey } = await keyOfSeedFile(seedFile, source, family);
  await convertAll(documents(source), (json) => {
    const { encryptedText, wrappedKey, senderPublicKey } = envelopeOf(json);
    const sender = publicKeyOf(senderPublicKey, family);
    const plain = decryptText(family, privateKey, sender, encryptedText, wrappedKey);
    const decryptedText = plain && fromUtf8(plain);
    if (decryptedText === undefined) throw apiError('Invalid', 'Decryption failed');
    return { decryptedText };
  });
  privateKey.fill(0);
}

export async function convert(source: string, { to }: ConvertFlags): Promise<void> {
  await convertAll(documents(source), (document) => {
    const text = isObject(document) ? document['encryptedText'] : document;
    if (typeof text !== 'string') throw apiError('Invalid', "'encryptedText' is missing");
    const encryptedText = to === 'base64' ? base64(fromBase58(text)) : base58.encode(from64(text));
    return isObject(document) ? { ...document, encryptedText } : { encryptedText };
  });
}

/** Objects or bare texts, one a line. Throws CliError where there is none, as behind a failed command. */
async function* documents(source: string): AsyncGenerator<() => unknown> {
  let isEmpty = true;
  for await (const line of readLines(source)) {
    isEmpty = false;
    yield () => (/^\s*["{[]/.test(line) ? parseJson(line) : line.trim());
  }
  if (isEmpty) throw new CliError('The input is empty');
}

function fromBase58(text: string): Uint8Array {
  try {
    return base58.decode(text, ENCRYPTED_TEXT_LENGTH_MAX);
  } catch {
    throw apiError('Invalid', "'encryptedText' is not Base58");
  }
}

function from64(text: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length > ENCRYPTED_TEXT_LENGTH_MAX) {
    throw apiError('Invalid', "'encryptedText' is not Base64");
  }
  return Buffer.from(text, 'base64');
}

function envelopeOf(json: unknown): Omit<Encrypted, 'publicKey'> {
  if (!isObject(json)) throw apiError('MalformedJson');
  const text = (name: keyof Encrypted): string => {
    const value = (json as JsonObject)[name];
    if (typeof value !== 'string') throw apiError('Invalid', `'${name}' is missing`);
    return value;
  };
  return {
    encryptedText: text('encryptedText'),
    wrappedKey: text('wrappedKey'),
    senderPublicKey: text('senderPublicKey'),
  };
}

function publicKeyOf(text: string, family: CryptoFamily): Uint8Array {
  let bytes: Uint8Array | undefined;
  try {
    bytes = base58.decode(text);
  } catch {
    // Below.
  }
  if (bytes?.length === family.publicKeySize) return bytes;
  throw apiError('InvalidPublicKey', `Can't create public key from string '${text}'`);
}

function needed(value: string | undefined, option: string): string {
  if (value !== undefined) return value;
  throw new CliError(`${option} is missing; with --seed-file no node is asked`, EXIT.usage);
}
