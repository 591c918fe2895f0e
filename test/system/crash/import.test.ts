// An import of a long chain that is killed in the middle, several times, continues after its last
// commit and ends with the state of the exported chain. IMPORT_TXS sets the number of transactions,
// IMPORT_KILLS that of the kills.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { generateChain, openChain } from '../../../bench/chain/generate.ts';
import type { DevFolder } from '../../../bench/node/dev-folder.ts';
import { PageFile } from '../../../src/adapters/lmdb/database-pages.ts';
import { dataFile } from '../../../src/adapters/lmdb/environment.ts';
import { encodeHex } from '../../../src/base/hex.ts';
import { childEnvironment } from '../../child-environment.ts';
import { judgeChain } from './witness/cold-chain.ts';

const TRANSACTIONS = Number(process.env['IMPORT_TXS'] ?? 8_000);
const KILLS = Number(process.env['IMPORT_KILLS'] ?? 2);
/** Many more than an import reads ahead, so that there are commits between the kills. */
const BLOCKS = 600;
/** The kill comes after so many, of which the first are those of an empty store. */
const COMMITS = 3n;
const LOOK_MS = 2;
/** Far above what it takes on a machine that does nothing else. */
const MS_PER_TRANSACTION_MAX = 5;
const SETTLE_MS_MAX = 120_000;
const BIN = fileURLToPath(new URL('../../../bin/platform-node', import.meta.url));
const env = childEnvironment();
const run = promisify(execFile);
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

t.setTimeout(SETTLE_MS_MAX + TRANSACTIONS * MS_PER_TRANSACTION_MAX);

t.test(`an import of ${TRANSACTIONS} transactions survives ${KILLS} kills`, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'import-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const perBlock = Math.ceil(TRANSACTIONS / BLOCKS);
  const { folder, height } = await generateChain(dir, TRANSACTIONS, { perBlock });
  const file = join(dir, 'chain.bin');
  await run(BIN, ['chain', 'export', folder.config, file], { env });
  const bytes = readFileSync(file);
  const pipe = join(dir, 'pipe');
  await run('mkfifo', [pipe]);
  const copy = `data-directory=${join(dir, 'copy')}`;
  const store = join(dir, 'copy', 'chain');
  const importing = (from: string) => ['chain', 'import', folder.config, from, '--set', copy];

  let reached = 1;
  for (let kill = 1; kill <= KILLS; kill++) {
    const before = latestTransaction(store);
    const child = spawn(BIN, importing(pipe), { env, stdio: 'ignore' });
    t.teardown(() => child.kill('SIGKILL'));
    const ended = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)));
    // A pipe holds back the rest, so that the import cannot be over by the time of the kill, which
    // comes while it writes what it has read.
    const feed = await open(pipe, 'w');
    await feed.writeFile(bytes.subarray(0, (bytes.length * (kill + 2)) / (KILLS + 3)));
    while (latestTransaction(store) < before + COMMITS) await wait(LOOK_MS);
    child.kill('SIGKILL');
    t.equal(await ended, 'SIGKILL', 'it was at work until it was killed');
    await feed.close();
    const there = await stateOf(folder, [copy]);
    t.ok(there.height >= reached, 'nothing that was committed is gone');
    t.strictSame(there, await stateOf(folder, [], there.height), 'what is there is right');
    reached = there.height;
  }
  t.ok(reached > 1 && reached < height, 'it was killed in the middle');

  const { stdout } = await run(BIN, importing(file), { env });
  const { transactions, read, ...end } = JSON.parse(stdout);
  t.strictSame(read, { from: 2, to: height }, 'all of the file is read again');
  t.strictSame(end, await stateOf(folder, []), 'the end is that of the chain in the file');
  const cold = await judgeChain(folder.config, folder.scheme, [copy]);
  t.equal(cold.stateHashes.at(-1), end.stateHash, 'so says a cold validator');
  t.ok(transactions < TRANSACTIONS, 'it went on instead of beginning again');
  t.comment(`killed ${KILLS} times, the last one at height ${reached} of ${height}`);
});

async function stateOf(folder: DevFolder, set: readonly string[], at?: number) {
  const { blockchain, close } = await openChain(folder, set);
  const height = at ?? blockchain.tip().height;
  const stateHash = blockchain.stateHash(height);
  await close();
  return { height, stateHash: stateHash && encodeHex(stateHash) };
}

/**
 * The number of the latest transaction in a file that another process may have open; 0n for none.
 */
function latestTransaction(folder: string): bigint {
  const path = dataFile(folder);
  if (!existsSync(path)) return 0n;
  const file = new PageFile(path);
  file.close();
  return BigInt(Math.max(...file.metas.map((meta) => meta?.transaction ?? 0)));
}
