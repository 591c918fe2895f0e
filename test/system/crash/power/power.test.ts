// Row R2 of the reliability goals: the power fails while a node is working. A shim below the node
// records its requests to the disk. From this record the disk is rebuilt as a power failure could
// leave it at any moment: data that were not synchronised are missing, incomplete or in another
// order. All promised data must be there, and none may be half written. POWER_CUTS sets the number
// of failures.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { openChain } from '../../../../bench/chain/generate.ts';
import { freePort } from '../../../../bench/measure/free-port.ts';
import { type DevFolder, makeDevFolder } from '../../../../bench/node/dev-folder.ts';
import { startNode } from '../../../../bench/node/node-process.ts';
import { createSenders } from '../../../../bench/transfers/senders.ts';
import {
  broadcastBody,
  fundingTransfers,
  nthTransfer,
} from '../../../../bench/transfers/transfers.ts';
import { openJournal } from '../../../../src/adapters/journal.ts';
import { stderrLog } from '../../../../src/adapters/log.ts';
import { filesShelf } from '../../../../src/adapters/private-store/files-shelf.ts';
import { verifiedStore } from '../../../../src/adapters/private-store/verified.ts';
import { systemClock } from '../../../../src/adapters/system.ts';
import { base58 } from '../../../../src/base/base58.ts';
import { encodeHex } from '../../../../src/base/hex.ts';
import type { Store, StoreView } from '../../../../src/base/ports/store.ts';
import { blockAt, confirmedHeight } from '../../../../src/chain/store/stored-blocks.ts';
import { openChainStore } from '../../../../src/cli/commands/chain/chain-store.ts';
import { loadConfig } from '../../../../src/cli/config-file.ts';
import { genesisBlock } from '../../../../src/cli/genesis-block.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../../../src/ledger/key-codecs.ts';
import {
  meta,
  privateLost,
  privatePending,
  privateStored,
  tables,
} from '../../../../src/ledger/tables.ts';
import { openBlockchain } from '../../../../src/node/open-blockchain.ts';
import { decodeTx } from '../../../../src/tx/tx-bytes.ts';
import { appendCold } from '../../../chain/cold-validator.ts';
import { inlineVerifier } from '../../../simulated/inline-verifier.ts';
import { createMemoryStore } from '../../../simulated/memory-store.ts';
import { Dice } from '../../sim/random.ts';
import { Disk, readSteps, type Step } from './disk.ts';

const CUTS = Number(process.env['POWER_CUTS'] ?? 40);
/** Made under load. */
const BLOCKS = Number(process.env['POWER_BLOCKS'] ?? 10);
const SEED = Number(process.env['POWER_SEED'] ?? 1);
/** Disks on which a node is started as a process, too. */
const STARTS = Math.ceil(CUTS / 100);
const ROUND_MS = 300;
const SENDERS = 64;
const TRANSFERS = 200 * BLOCKS;
const MS_EACH_MAX = 10_000;
const SYNC_END = 4;
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const quiet = stderrLog('error', false);

t.setTimeout(300_000 + CUTS * MS_EACH_MAX);

t.test(`the power goes ${CUTS} times and nothing that was promised is lost`, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'power-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const root = join(dir, 'node');
  const folder = await makeDevFolder({
    dir: root,
    roundMs: ROUND_MS,
    genesisTimestamp: Date.now() - ROUND_MS,
  });
  const disk = new Disk(root);
  const steps = await recorded(folder, dir);
  const oracle = await replay(folder);

  const dice = new Dice(SEED);
  const cuts = new Set<number>();
  while (cuts.size < CUTS) cuts.add(cutOf(cuts.size, steps, dice));
  let taken = 0;
  let unchecked = 0;
  const image = join(dir, 'image');
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    for (; taken < cut; taken++) disk.take(steps[taken]!);
    disk.writeTo(image, dice);
    const broken = await check(folder, image, disk.promised, oracle);
    if (broken.length > 0) t.fail(`cut ${cut} of ${steps.length}, seed ${SEED}`, { broken });
    if (unchecked++ % Math.ceil(CUTS / STARTS) !== 0) continue;
    disk.writeTo(image, dice);
    const set = [`directory=${image}`, `data-directory=${join(image, 'data')}`];
    const node = await startNode({ ...folder, dir }, { set });
    t.teardown(() => node.kill());
    const { height } = (await node.get('/blocks/height')) as { height: number };
    t.ok(height >= promisedHeight(disk.promised), `a node starts at height ${height}`);
    await node.stop();
  }
  t.ok(oracle.length > BLOCKS, 'blocks were made');
  t.ok(
    disk.promised.some((line) => line.startsWith('tx ')),
    'transfers were acknowledged',
  );
  const counts: Record<string, number> = {};
  for (const line of disk.promised) {
    const [kind = ''] = line.split(' ');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  t.comment(`seed ${SEED}: ${cuts.size} cuts in ${steps.length} steps; ${JSON.stringify(counts)}`);
});

/** Half of the cuts come at any step, the others right after a synchronisation. */
function cutOf(n: number, steps: readonly Step[], dice: Dice): number {
  const at = 1 + dice.below(steps.length);
  if (n % 2 === 0) return at;
  const end = steps.findIndex(({ kind }, i) => i >= at && kind === SYNC_END);
  return end < 0 ? at : end + 1;
}

/** Runs the node under the shim; what it asked of the disk. */
async function recorded(folder: DevFolder, dir: string): Promise<Step[]> {
  const shim = join(dir, 'shim.so');
  execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', shim, here('shim.c'), '-ldl', '-lpthread']);
  const senders = createSenders(SENDERS, folder.scheme);
  const now = Date.now();
  const txs = fundingTransfers(senders, folder.owner, now, folder.scheme);
  for (let n = 0; n < TRANSFERS; n++) txs.push(nthTransfer(n, senders, now, folder.scheme));
  const load = join(dir, 'load.json');
  const bodies = txs.map((tx) => [base58.encode(tx.id), broadcastBody(tx, folder.scheme)]);
  writeFileSync(load, JSON.stringify(bodies));
  const log = join(dir, 'steps');
  const args = [here('node.ts'), folder.config, `${await freePort()}`, `${BLOCKS}`, load];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true',
      POWER_ROOT: folder.dir,
      POWER_LOG: log,
      LD_PRELOAD: shim,
    },
  });
  t.teardown(() => child.kill('SIGKILL'));
  let errors = '';
  child.stderr.on('data', (data) => {
    errors += data;
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`the node ended with ${code}: ${errors.slice(-3000)}`);
  return readSteps(readFileSync(log));
}

interface At {
  readonly stateHash: string;
  readonly rows: string;
}

/** The state after each block of the finished chain, by its height, from a clean replay. */
async function replay(folder: DevFolder): Promise<(At | undefined)[]> {
  const { config } = await loadConfig(folder.config, { set: [] });
  const original = await openChain(folder);
  const store = createMemoryStore();
  const { blockchain } = await opened(folder, config, store);
  const states: (At | undefined)[] = [undefined];
  for (let height = 1; height <= original.blockchain.tip().height; height++) {
    if (height > 1) await appendCold(blockchain, blockAt(original.blockchain.view, height)!);
    states.push({ stateHash: encodeHex(blockchain.stateHash(height)!), rows: digest(store) });
  }
  await original.close();
  return states;
}

type Config = Awaited<ReturnType<typeof loadConfig>>['config'];

const opened = (folder: DevFolder, config: Config, store: Store) =>
  openBlockchain(config, genesisBlock(config), {
    scheme: folder.scheme,
    store,
    verifier: inlineVerifier(folder.family),
    clock: systemClock(),
    log: quiet,
  });

/** All rows that follow from the chain. */
function digest(view: StoreView): string {
  const hash = createHash('sha256');
  const own = [meta, privatePending, privateLost, privateStored].map(({ id }): number => id);
  for (const { id } of tables) {
    if (own.includes(id)) continue;
    for (const [key, value] of view.range(id, START_OF_TABLE, END_OF_TABLE, 1e9)) {
      hash.update(`${id} ${key.length} ${value.length} `).update(key).update(value);
    }
  }
  return hash.digest('hex');
}

const promisedHeight = (promised: readonly string[]): number =>
  Number(promised.findLast((line) => line.startsWith('block '))?.split(' ')[1] ?? 1);

/** What is wrong with a disk, in sentences. */
async function check(
  folder: DevFolder,
  image: string,
  promised: readonly string[],
  oracle: readonly (At | undefined)[],
): Promise<string[]> {
  const broken: string[] = [];
  const data = join(image, 'data');
  const { config } = await loadConfig(folder.config, { set: [`data-directory=${data}`] });
  const store = await openChainStore(config, genesisBlock(config), quiet);
  try {
    const height = promisedHeight(promised);
    const { blockchain } = await opened(folder, config, store);
    const tip = blockchain.tip();
    if (tip.height < height) broken.push(`height ${tip.height} instead of ${height}`);
    if (store.damaged !== undefined && height > 1) broken.push(`damage: ${store.damaged.why}`);
    const state = oracle[tip.height];
    const hash = encodeHex(blockchain.stateHash(tip.height)!);
    if (hash !== state?.stateHash) broken.push(`state hash ${hash} at height ${tip.height}`);
    if (digest(store) !== state?.rows) broken.push(`other rows at height ${tip.height}`);
    const journal = openJournal({ path: join(data, 'pool.journal') });
    const ids = new Set(
      journal.recovered.map((record) => base58.encode(decodeTx(record, folder.scheme).id)),
    );
    await journal.close();
    for (const line of promised) {
      const [kind, id = ''] = line.split(' ');
      if (kind !== 'tx' || ids.has(id)) continue;
      if (confirmedHeight(blockchain.view, base58.decode(id)) === undefined) {
        broken.push(`${id} is neither in the pool nor in a block`);
      }
    }
  } finally {
    await store.close();
  }
  await checkFiles(data, promised, broken);
  return broken;
}

async function checkFiles(data: string, promised: readonly string[], broken: string[]) {
  const latest = (kind: string): number =>
    Number(promised.findLast((line) => line.startsWith(`${kind} `))?.split(' ')[1] ?? 0);
  const small = join(data, 'small');
  const text = existsSync(small) ? readFileSync(small, 'utf8') : '0 '.repeat(500);
  const [n = ''] = text.split(' ');
  if (text !== `${n} `.repeat(500)) broken.push('a small file is half written');
  if (Number(n) < latest('file')) broken.push(`the small file of ${n}, not ${latest('file')}`);
  mkdirSync(data, { recursive: true });
  const store = verifiedStore(
    filesShelf(join(data, 'private')),
    stderrLog('fatal' as 'error', false),
  );
  const policyId = new Uint8Array(32).fill(7);
  for (let item = 1; item <= latest('private') + 1; item++) {
    const content = Buffer.from(`data ${item} `.repeat(1000));
    const hash = createHash('sha256').update(content).digest();
    const info = await store.info(policyId, hash);
    const found = await store.read(policyId, hash);
    const isWhole = info?.filename === `${item}` && found?.length === content.length;
    if (item <= latest('private') && !isWhole) broken.push(`private item ${item} is lost`);
    if (found === undefined && info !== undefined) broken.push(`item ${item} is half there`);
  }
}
