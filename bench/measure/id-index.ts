/**
 * What the index of ids costs in the thread that writes it: an index of so many random keys, then
 * commits of several sizes, each on a copy. Prints processor time and leaf pages touched for a key.
 *
 *   node bench/measure/id-index.ts FOLDER KEYS PER-COMMIT …
 */
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, openEnvironment } from '../../src/adapters/lmdb/environment.ts';
import { SUM_BYTES } from '../../src/adapters/lmdb/sums.ts';
import { ID_PREFIX_BYTES } from '../../src/chain/store/block-index.ts';
import { transactionIds } from '../../src/ledger/tables.ts';

const BUILD_BATCH = 100_000;
/** Before the measurement, so that the list of free pages is what it is in a running node. */
const WARM_UP_KEYS = 60_000;
const MEASURED_KEYS = 100_000;
const VALUE = new Uint8Array(6 + SUM_BYTES);

const open = (folder: string): Environment =>
  openEnvironment({ folder, tables: [{ id: transactionIds.id, name: transactionIds.name }] });

/** Returns the processor time of the transaction alone. */
function commit({ root, tableOf }: Environment, count: number): NodeJS.CpuUsage {
  const keys = Array.from({ length: count }, () => randomBytes(ID_PREFIX_BYTES));
  keys.sort(Buffer.compare);
  const table = tableOf(transactionIds.id);
  const start = process.cpuUsage();
  root.transactionSync(() => {
    for (const key of keys) table.putSync(key, VALUE);
  });
  return process.cpuUsage(start);
}

async function build(folder: string, keys: number): Promise<void> {
  const environment = open(folder);
  for (let done = 0; done < keys; done += BUILD_BATCH) commit(environment, BUILD_BATCH);
  await environment.root.close();
}

async function measure(folder: string, perCommit: number): Promise<string> {
  const copy = `${folder}-copy`;
  cpSync(folder, copy, { recursive: true });
  const environment = open(copy);
  for (let done = 0; done < WARM_UP_KEYS; done += perCommit) commit(environment, perCommit);
  const { treeLeafPageCount: leaves } = environment.tableOf(transactionIds.id).getStats() as {
    treeLeafPageCount: number;
  };
  const commits = Math.ceil(MEASURED_KEYS / perCommit);
  let [user, system] = [0, 0];
  for (let i = 0; i < commits; i++) {
    const used = commit(environment, perCommit);
    user += used.user;
    system += used.system;
  }
  await environment.root.close();
  rmSync(copy, { recursive: true });
  const count = commits * perCommit;
  const pages = (leaves * (1 - Math.exp(-perCommit / leaves))) / perCommit;
  const micros = (time: number): string => (time / count).toFixed(1);
  return `${perCommit} a commit: ${pages.toFixed(2)} pages, ${micros(user)} + ${micros(system)} µs a key`;
}

const [folder = '', keys = '', ...sizes] = process.argv.slice(2);
if (!existsSync(join(folder, 'data.mdb'))) await build(folder, Number(keys));
for (const size of sizes) process.stdout.write(`${await measure(folder, Number(size))}\n`);
