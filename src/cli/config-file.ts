/**
 * Loads the configuration of a node from the outside world: file, environment, flags
 * (node.md#start steps 1 and 2). Throws CliError with the texts of node.md#start.
 */
import { randomInt } from 'node:crypto';
import { homedir } from 'node:os';
import { files } from '../adapters/files.ts';
import { parseHoconText, parseWithIncludes } from '../adapters/hocon.ts';
import {
  type ConfigInput,
  type ConfigResult,
  type DataConfig,
  readConfig,
  readDataConfig,
} from '../node/config/read.ts';
import { CliError } from './terminal/exit.ts';

export interface SetFlags {
  /** `key=value` pairs of `--set`. */
  readonly set?: readonly string[] | undefined;
}

export interface ConfigFlags extends SetFlags {
  /** Of this process, where the file names none; absent: a random one. */
  readonly nonce?: number;
}

const NONCE_RANGE = 2 ** 48 - 1;

/**
 * Throws CliError for wrong usage or a missing file, and ConfigError with all errors in the file.
 */
export async function loadConfig(
  path: string | undefined,
  flags: ConfigFlags = {},
): Promise<ConfigResult> {
  return readConfig({
    ...(await readConfigFile(path)),
    env: process.env,
    sets: flags.set ?? [],
    home: homedir(),
    nonce: flags.nonce ?? randomInt(NONCE_RANGE),
    readSecret: readText,
  });
}

/**
 * The same for the data service; without a file it has the defaults, variables and flags. `serves`:
 * for a command that opens its interface.
 */
export async function loadDataConfig(
  path: string | undefined,
  flags: ConfigFlags,
  serves: boolean,
): Promise<DataConfig> {
  const given = path === undefined ? NO_FILE : await readConfigFile(path);
  const input = {
    ...given,
    env: process.env,
    sets: flags.set ?? [],
    home: homedir(),
    nonce: 0,
    readSecret: readText,
  };
  return readDataConfig(input, serves);
}

const NO_FILE: ConfigFile = { file: 'defaults', text: '', tree: {}, missing: [] };

/** A file with what it includes, by absolute paths. */
export type ConfigFile = Pick<ConfigInput, 'file' | 'text' | 'tree' | 'included' | 'missing'>;

/** The parsed file without types, also for the sections of the tools. `-` is stdin. */
export async function readConfigFile(path: string | undefined): Promise<ConfigFile> {
  if (path === undefined) throw new CliError('NO CONFIGURATION FILE WAS PROVIDED, ABORTING');
  if (path === '-') {
    fromStdin ??= readStdin();
    return fromStdin;
  }
  const text = files.isDirectory(path) ? undefined : readText(path);
  if (text === undefined) {
    throw new CliError(`Provided configuration file ${whyUnread(path)}: ${path}`);
  }
  const { tree, included, missing } = await parsed(path, parseWithIncludes(path));
  const texts = included.map((file) => ({ file, text: readText(file) ?? '' }));
  return { file: path, text, tree, included: texts, missing };
}

function whyUnread(path: string): string {
  if (files.isDirectory(path)) return 'appeared to be a directory';
  return files.exists(path)
    ? 'cannot be read by this user; make it readable, or run as the user of the node'
    : "doesn't exist";
}

/** Stdin can be read once, and a command may read its configuration twice. */
let fromStdin: Promise<ConfigFile> | undefined;

async function readStdin(): Promise<ConfigFile> {
  const { readAll } = await import('./terminal/lines.ts');
  const text = await readAll('-');
  return { file: 'stdin', text, tree: await parsed('stdin', parseHoconText(text)), missing: [] };
}

async function parsed<T>(path: string, parsing: Promise<T>): Promise<T> {
  try {
    return await parsing;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(`Failed to parse config: ${path}: ${reason}`);
  }
}

function readText(path: string): string | undefined {
  try {
    const bytes = files.read(path);
    return bytes && new TextDecoder().decode(bytes);
  } catch {
    return undefined;
  }
}
