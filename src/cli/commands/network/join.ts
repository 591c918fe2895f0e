/**
 * `platform-node network join`: makes the keys of a member in its folder and writes the request, which has
 * the public key alone. A key that is there is never overwritten, so the command can be repeated: what an
 * interrupted run has left out it completes.
 */
import { lstatSync, realpathSync } from 'node:fs';
import { join as joined } from 'node:path';
import { files } from '../../../adapters/files.ts';
import { type FolderLock, lockFolder, StoreLockedError } from '../../../adapters/folder-lock.ts';
import { systemRandom } from '../../../adapters/system.ts';
import { base58 } from '../../../base/base58.ts';
import { fromUtf8, utf8 } from '../../../base/bytes.ts';
import type { KeyPair } from '../../../crypto/family.ts';
import type { Keystore } from '../../../keystore/keystore.ts';
import { mapText, type TextEntry } from '../../../node/config/text-map.ts';
import { noteOfNewKey, notePath } from '../../../node/finality/voter-note.ts';
import { CliError, EXIT, lockedBy } from '../../terminal/exit.ts';
import { printJson, say } from '../../terminal/output.ts';
import {
  type PasswordFlags,
  type PasswordSource,
  passwordSource,
} from '../keystore/account-passwords.ts';
import { openWallet } from '../keystore/open-wallet.ts';
import { type GenesisFile, readGenesis } from './genesis-file.ts';
import { KEYSTORE, MISSING, WALLET_PASSWORD } from './network-texts.ts';
import { NAME, NAME_RULE } from './organisations.ts';
import { requestText } from './request.ts';

export interface JoinFlags extends PasswordFlags {
  readonly newKey?: true;
}

const SECRET_BYTES = 32;
const API_KEY = 'api-key';

/** A folder that `network init` has made. */
interface Folder {
  readonly dir: string;
  readonly genesis: GenesisFile;
  /** Of node.conf. */
  readonly name: string;
  /** The address that node.conf has; undefined while it has none. */
  readonly owner: string | undefined;
}

export async function join(given: string, flags: JoinFlags): Promise<void> {
  if (!files.isDirectory(given)) throw new CliError(`'${given}' is no folder`);
  const dir = realpathSync(given);
  const turn = await takeTurn(dir);
  try {
    await joinFolder(await openFolder(dir), flags);
  } finally {
    turn.release();
  }
}

/** Two at once would make two keys and two passwords of the keystore, and one of each would be lost. */
async function takeTurn(dir: string): Promise<FolderLock> {
  return lockFolder(dir, 'join-').catch((cause: unknown) => {
    if (!(cause instanceof StoreLockedError)) throw cause;
    throw new CliError(
      `another platform-node network join works in ${dir}: repeat this one when it has ended`,
      EXIT.locked,
    );
  });
}

async function joinFolder(folder: Folder, flags: JoinFlags): Promise<void> {
  const { dir, genesis, name, owner } = folder;
  const { family, scheme } = genesis.cryptography;
  if (flags.newKey === true && owner === undefined) {
    throw new CliError(`${dir} has no key yet that could be replaced: leave out --new-key`);
  }
  const lock = flags.newKey === true ? await lockNode(dir) : undefined;
  const passwords = passwordSource(flags);
  let keystore: Keystore | undefined;
  try {
    keystore = await openWallet({
      path: joined(dir, KEYSTORE),
      password: walletPassword(dir),
      network: genesis.cryptography,
    });
    const { key, isNew } = await keyOf(folder, keystore, passwords, flags.newKey === true);
    const address = scheme.addressToText(scheme.addressOf(key.publicKey));
    const apiKey = fillIn(folder, address);
    const request = joined(dir, `${name}.request.json`);
    files.replace(request, utf8(requestText(genesis, name, key)));
    key.privateKey.fill(0);
    const publicKey = base58.encode(key.publicKey);
    if (!isNew) {
      say(`The key of ${address} was in ${dir} before: whoever made it can sign as this node`);
    }
    printJson({ name, address, publicKey, isNew, request, apiKey, crypto: family.title });
    say(
      `Send ${request} to who asked for it, and keep a copy of ${KEYSTORE} and ${WALLET_PASSWORD}`,
    );
  } finally {
    passwords.close();
    keystore?.close();
    lock?.release();
  }
}

const nodeConf = (dir: string): string => joined(dir, 'node.conf');

async function openFolder(dir: string): Promise<Folder> {
  const genesis = await readGenesis(dir);
  const text = confText(dir);
  const setting = (key: string): string | undefined => {
    const entry = entryOf(text, key);
    return entry && text.slice(entry.valueStart, entry.valueEnd).replace(/^"(.*)"$/, '$1');
  };
  const name = setting('network.node-name');
  const owner = setting(OWNER);
  if (name === undefined || owner === undefined) {
    throw new CliError(`${nodeConf(dir)} is not the one that platform-node network init has made`);
  }
  // It is a part of the name of a file, and no other is taken at the other end.
  if (!NAME.test(name)) throw new CliError(`${nodeConf(dir)}: network.node-name ${NAME_RULE}`);
  return { dir, genesis, name, owner: owner === MISSING.address ? undefined : owner };
}

const OWNER = 'owner-address';

/** Of several the last one counts. */
const entryOf = (text: string, key: string): TextEntry | undefined =>
  mapText(text).entries.findLast(({ path }) => path.join('.') === `node.${key}`);

function confText(dir: string): string {
  const path = nodeConf(dir);
  const bytes = files.read(path);
  const text = bytes && fromUtf8(bytes);
  if (text === undefined) {
    throw new CliError(`${path} does not exist: platform-node network init makes it`);
  }
  return text;
}

/** So that no node goes on with the key that is replaced, and writes its note. */
async function lockNode(dir: string): Promise<FolderLock | undefined> {
  const chain = joined(dir, 'data', 'chain');
  if (!files.exists(chain)) return undefined;
  return lockFolder(chain).catch((cause: unknown) => {
    throw cause instanceof StoreLockedError ? lockedBy(cause) : cause;
  });
}

function walletPassword(dir: string): string {
  const path = joined(dir, WALLET_PASSWORD);
  const kept = files.read(path);
  if (kept !== undefined) return new TextDecoder().decode(kept).trim();
  if (files.exists(joined(dir, KEYSTORE))) {
    throw new CliError(`${joined(dir, KEYSTORE)} is there, and its password is not: ${path}`);
  }
  return newSecret(path);
}

function newSecret(path: string): string {
  const secret = base58.encode(systemRandom.bytes(SECRET_BYTES));
  files.replace(path, utf8(`${secret}\n`), { secret: true });
  return secret;
}

interface Held {
  readonly key: KeyPair;
  readonly isNew: boolean;
}

async function keyOf(
  { dir, genesis, owner }: Folder,
  keystore: Keystore,
  passwords: PasswordSource,
  isReplaced: boolean,
): Promise<Held> {
  const { family } = genesis.cryptography;
  const addresses = keystore.addresses();
  if (isReplaced || (owner === undefined && addresses.length === 0)) {
    const password = await passwords.choose(
      'Please enter password for the key of the node (empty password means no password): ',
    );
    const key = family.generateKeyPair(systemRandom);
    if (owner !== undefined) putNoteAside(dir, owner);
    writeFirstNote(dir, key, genesis);
    await keystore.add([{ privateKey: key.privateKey, password }]);
    return { key, isNew: true };
  }
  const address = owner ?? addresses[0]!;
  const account = keystore.accounts()[addresses.indexOf(address)];
  if (account === undefined) {
    throw new CliError(
      `${dir} has no key of ${address}: put the keystore of the node in its place, or make another key with --new-key`,
    );
  }
  if (owner === undefined && addresses.length > 1) {
    throw new CliError(`${dir} has several keys: write the address of one into node.conf`);
  }
  const password = account.password ? await passwords.ask(`Password of ${address}: `) : undefined;
  const privateKey = await keystore.privateKey(account.address, password);
  return { key: { privateKey: privateKey.slice(), publicKey: account.publicKey }, isNew: false };
}

/** Of one key, from runs that were interrupted. */
const NOTES_MAX = 100;

/**
 * The note is of the key that voted; the voter of another cannot read it. An earlier run that was interrupted may
 * have put it aside and left the first note of another key in its place, so nothing is overwritten.
 */
function putNoteAside(dir: string, owner: string): void {
  const note = notePath({ directory: dir });
  const bytes = files.read(note);
  if (bytes === undefined) return;
  const names = Array.from({ length: NOTES_MAX }, (_, i) => `${note}.${owner}${i ? `.${i}` : ''}`);
  const free = names.find((name) => lstatSync(name, { throwIfNoEntry: false }) === undefined);
  if (free === undefined) throw new CliError(`${names[0]} and more are there: move them away`);
  files.replace(free, bytes, { secret: true, copyOf: note });
  files.remove(note);
}

/**
 * A key that was made just now has never voted, and may do so as soon as it is a miner (finality.md#notes). The note is
 * there before the key: a run that is interrupted in between leaves no key without one.
 */
function writeFirstNote(dir: string, { publicKey }: KeyPair, { cryptography }: GenesisFile): void {
  const bytes = noteOfNewKey(publicKey, cryptography.scheme);
  files.replace(notePath({ directory: dir }), bytes, { secret: true });
}

/** Writes what node.conf lacks; the path of the file with the API key. */
function fillIn({ dir, genesis }: Folder, address: string): string {
  const text = confText(dir);
  const path = joined(dir, API_KEY);
  const { valueStart, valueEnd } = entryOf(text, OWNER)!;
  const owned = `${text.slice(0, valueStart)}"${address}"${text.slice(valueEnd)}`;
  // A function, since the path may have what a replacement means otherwise, such as $$.
  const edited = owned.replaceAll(MISSING.folder, () => JSON.stringify(dir).slice(1, -1));
  const whole = edited.includes(MISSING.apiKeyHash)
    ? edited.replace(MISSING.apiKeyHash, apiKeyHash(path, genesis))
    : edited;
  if (whole !== text) files.replace(nodeConf(dir), utf8(whole));
  return path;
}

function apiKeyHash(path: string, { cryptography }: GenesisFile): string {
  const kept = files.read(path);
  const key = kept === undefined ? newSecret(path) : new TextDecoder().decode(kept).trim();
  return base58.encode(cryptography.family.secureHash(utf8(key)));
}
