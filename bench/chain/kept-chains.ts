/**
 * Chains of several lengths in one folder. Each is made once, by making a copy of the longest
 * shorter one longer, and stays as it is. A later run that is given the folder finds them there.
 *
 *   FOLDER/10000/chain.json  written last: what is complete
 *   FOLDER/10000/ids         ids of some of the transfers
 *   FOLDER/10000/next.bin    the blocks that follow, as a chain file
 */
import {
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { FORMAT } from '../../src/adapters/lmdb/check.ts';
import {
  BLOCK_BYTES_OF_FULL_LOAD,
  type DevFolder,
  makeDevFolder,
  openDevFolder,
} from '../node/dev-folder.ts';
import { benchSenders, type GeneratedChain, growChain, timestampBefore } from './generate.ts';
import { exportChain } from './importer.ts';

export const SIZES = { '10k': 10_000, '100k': 100_000, '1m': 1_000_000, '10m': 10_000_000 };

/** How a node starts on a kept chain: its miner would append empty blocks. */
export const UNCHANGED = 'miner.enable=no';

/** Transfers of the blocks that follow a chain. */
export const NEXT_TRANSFERS = 50_000;
const ROUND_MS = 1000;
const ID_BYTES = 32;

interface Complete {
  /** Of the rows; a chain of another format or limit is made again. */
  readonly format: string;
  readonly blockBytes: number;
  readonly transfers: number;
  readonly height: number;
  /** Where it was made: paths in its configuration begin with this. */
  readonly dir: string;
}

export async function keptChain(
  root: string,
  transfers: number,
  say: (text: string) => void,
): Promise<GeneratedChain> {
  const dir = resolve(root, String(transfers));
  const kept = completeIn(dir);
  if (kept !== undefined) return opened(dir, kept);
  say(`  making a chain of ${transfers} transfers`);
  rmSync(dir, { recursive: true, force: true });
  const base = longestBelow(resolve(root), transfers);
  const folder = base === undefined ? await emptyFolder(dir) : copyFolder(base.folder, dir);
  const from = base?.transfers ?? 0;
  const grown = await growChain(folder, benchSenders(folder), { from, to: transfers });
  writeFileSync(join(dir, 'ids'), Buffer.concat([...(base?.ids ?? []), ...grown.ids]));
  const blockBytes = BLOCK_BYTES_OF_FULL_LOAD;
  const { height } = grown;
  const complete: Complete = { format: FORMAT, blockBytes, transfers, height, dir };
  writeFileSync(join(dir, 'chain.json'), JSON.stringify(complete));
  return opened(dir, complete);
}

/** The file of the blocks that follow. */
export async function nextBlocks(chain: GeneratedChain): Promise<string> {
  const { folder, transfers, height } = chain;
  const file = join(folder.dir, 'next.bin');
  if (existsSync(file)) return file;
  const longer = copyFolder(folder, `${folder.dir}-longer`);
  const range = { from: transfers, to: transfers + NEXT_TRANSFERS };
  await growChain(longer, chain.senders, range);
  cpSync(await exportChain(longer, height + 1), file);
  rmSync(longer.dir, { recursive: true });
  return file;
}

/** A node that was killed leaves a socket, which cannot be copied. */
export function isLock(path: string): boolean {
  return basename(path).startsWith('lock-');
}

/** A copy of the same network with its chain. */
export function copyFolder(from: DevFolder, dir: string): DevFolder {
  rmSync(dir, { recursive: true, force: true });
  cpSync(from.dir, dir, {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (path) => !/(chain\.json|ids|\.bin|\.log)$/.test(path) && !isLock(path),
  });
  relocate(dir, from.dir);
  return openDevFolder(dir);
}

function completeIn(dir: string): Complete | undefined {
  const file = join(dir, 'chain.json');
  if (!existsSync(file)) return undefined;
  const complete = JSON.parse(readFileSync(file, 'utf8')) as Complete;
  const { format, blockBytes } = complete;
  const isUsable = format === FORMAT && blockBytes === BLOCK_BYTES_OF_FULL_LOAD;
  return isUsable ? complete : undefined;
}

function opened(dir: string, complete: Complete): GeneratedChain {
  if (complete.dir !== dir) relocate(dir, complete.dir);
  const folder = openDevFolder(dir);
  const bytes = readFileSync(join(dir, 'ids'));
  const ids = Array.from({ length: bytes.length / ID_BYTES }, (_, i) =>
    bytes.subarray(i * ID_BYTES, (i + 1) * ID_BYTES),
  );
  const { transfers, height } = complete;
  return { folder, senders: benchSenders(folder), height, transfers, ids };
}

function longestBelow(root: string, transfers: number): GeneratedChain | undefined {
  mkdirSync(root, { recursive: true });
  const found = readdirSync(root)
    .map((name) => ({ dir: join(root, name), kept: completeIn(join(root, name)) }))
    .filter(({ kept }) => kept !== undefined && kept.transfers < transfers)
    .sort((a, b) => a.kept!.transfers - b.kept!.transfers)
    .at(-1);
  return found && opened(found.dir, found.kept!);
}

/** The first block lies so far back that the longest chain ends before now. */
const emptyFolder = (dir: string): Promise<DevFolder> =>
  makeDevFolder({
    dir,
    roundMs: ROUND_MS,
    blockBytes: BLOCK_BYTES_OF_FULL_LOAD,
    genesisTimestamp: timestampBefore(SIZES['10m'] + NEXT_TRANSFERS),
  });

/** Paths in the configuration are absolute. */
function relocate(dir: string, from: string): void {
  const { config } = openDevFolder(dir);
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll(`"${from}`, `"${dir}`));
}
