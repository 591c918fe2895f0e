/** What a backup holds: `manifest.json`, and the files that it names. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { files } from '../../../adapters/files.ts';
import { isObject, parse, stringify } from '../../../base/json/json.ts';
import { CliError } from '../../terminal/exit.ts';

const MANIFEST = 'manifest.json';
export const CHAIN_FILE = 'chain/data.mdb';
export const CONFIG_FILE = 'node.conf';
/** The folder of the keystore: a file of this name, or one for each account. */
export const KEYSTORE = 'keystore';
/** A keystore that is one file, whatever its name. */
export const KEYSTORE_FILE = `${KEYSTORE}/keystore.dat`;

const VERSION = 1;
const MANIFEST_BYTES_MAX = 16 * 1024 * 1024;
/** Before the place of a file that the configuration includes, below its folder. */
export const INCLUDED = 'included/';
/** Of such files, together with the configuration. */
export const INCLUDED_MAX = 100;
export const INCLUDED_BYTES_MAX = 16 * 1024 * 1024;
/** Nothing that leads out of the folder. */
export const NAMES =
  /^(chain\/data\.mdb|node\.conf|(keystore|included(\/[A-Za-z0-9][A-Za-z0-9._-]{0,99}){0,4})\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})$/;

export interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** The chain in a backup. */
export interface BackupChain {
  readonly genesisId: string;
  readonly height: number;
  readonly blockId: string;
  readonly stateHash: string;
}

export interface Manifest extends BackupChain {
  /** The release that made it. */
  readonly release: string;
  readonly createdAt: string;
  readonly files: readonly BackupFile[];
}

export async function writeManifest(
  folder: string,
  names: readonly string[],
  { release, ...chain }: BackupChain & { readonly release: string },
): Promise<Manifest> {
  const list = [];
  for (const name of names) list.push(await factsOf(folder, name));
  const createdAt = new Date().toISOString();
  const manifest: Manifest = { release, createdAt, ...chain, files: list };
  const text = stringify({ version: VERSION, ...manifest }, 2);
  files.replace(join(folder, MANIFEST), new TextEncoder().encode(`${text}\n`), { secret: true });
  return manifest;
}

/** Reads a manifest and compares every file with it. Throws CliError. */
export async function verifiedManifest(folder: string): Promise<Manifest> {
  const manifest = readManifest(folder);
  for (const file of manifest.files) {
    const { name, bytes, sha256 } = file;
    if (!existsSync(join(folder, name))) throw new CliError(`'${name}' is missing in '${folder}'`);
    const found = await factsOf(folder, name);
    if (found.bytes === bytes && found.sha256 === sha256) continue;
    throw new CliError(`'${name}' in '${folder}' is not what was backed up: take another backup`);
  }
  return manifest;
}

function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST);
  const size = sizeOf(path);
  if (size === undefined) throw new CliError(`'${folder}' is no backup: it has no ${MANIFEST}`);
  const wrong = new CliError(`'${path}' is damaged, or of another release`);
  if (size > MANIFEST_BYTES_MAX) throw wrong;
  const bytes = files.read(path);
  let json: unknown;
  try {
    json = parse(new TextDecoder().decode(bytes));
  } catch {
    throw wrong;
  }
  if (!isObject(json) || json['version'] !== VERSION || !Array.isArray(json['files'])) throw wrong;
  const texts = ['release', 'createdAt', 'genesisId', 'blockId', 'stateHash'];
  if (texts.some((key) => typeof json[key] !== 'string')) throw wrong;
  if (!Number.isSafeInteger(json['height']) || !json['files'].every(isFile)) throw wrong;
  if (!json['files'].some(({ name }) => name === CHAIN_FILE)) throw wrong;
  const configuration = json['files'].filter(({ name }) => !/^(chain|keystore)/.test(name));
  if (configuration.length > INCLUDED_MAX + 1) throw wrong;
  if (configuration.some(({ bytes }) => bytes > INCLUDED_BYTES_MAX)) throw wrong;
  return json as unknown as Manifest;
}

/** Undefined where there is no file. Throws CliError where this user may not look for it. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CliError(
      code === 'EACCES'
        ? `'${path}' cannot be read by this user; run as the user of the node`
        : (cause as Error).message,
    );
  }
}

const isFile = (value: unknown): value is BackupFile =>
  isObject(value) &&
  NAMES.test(String(value['name'])) &&
  Number.isSafeInteger(value['bytes']) &&
  /^[0-9a-f]{64}$/.test(String(value['sha256']));

async function factsOf(folder: string, name: string): Promise<BackupFile> {
  const path = join(folder, name);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { name, bytes: statSync(path).size, sha256: hash.digest('hex') };
}
