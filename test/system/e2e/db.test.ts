// The store of a node from outside: measured and checked beside the node, compacted without it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openLmdbStore } from '../../../src/adapters/lmdb/store.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../../src/ledger/key-codecs.ts';
import { accounts, blocksByGenerator, stateHashes, tables } from '../../../src/ledger/tables.ts';
import { jsonLines, run } from '../../cli/run.ts';
import { startNode } from './dev-node.ts';
import { API_KEY, networkFolder, OWNER } from './network-folder.ts';
import { eventually } from './process.ts';

const transfer = { type: 4, version: 2, sender: OWNER.address, recipient: OWNER.address };

async function answer(args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run(['db', ...args]);
  if (code !== 0) throw new Error(`${code}: ${stderr}`);
  return jsonLines(stdout)[0] ?? {};
}

t.test('of a running node, and compacted once it has stopped', async (t) => {
  const { dir, config } = await networkFolder(t);
  const node = await startNode(t, config, { apiKey: API_KEY });
  for (let i = 0; i < 20; i++) {
    await node.rest.broadcast(await node.rest.sign({ ...transfer, amount: 1, fee: 1_000_000 + i }));
  }
  await eventually('the transfers', async () => {
    const { rows } = tableIn(await answer(['stat', config]), 'transactions');
    return rows > 20 ? true : undefined;
  });
  const stat = await answer(['stat', config]);
  t.ok(Number(stat['height']) > 1);
  const pages = Number(stat['pages']);
  const inTables = (stat['tables'] as { bytes: number }[]).reduce((sum, one) => sum + one.bytes, 0);
  t.ok(inTables + Number(stat['freeBytes']) < pages * Number(stat['pageBytes']));
  t.match(await answer(['verify', config]), { height: Number, stateHash: /^[0-9a-f]{64}$/ });
  t.match(await answer(['verify', config, '--full']), { full: true });
  t.equal((await run(['db', 'compact', config])).code, 75, 'only without the node');
  await node.stop();

  const huge = ['--set', 'storage.free-space-min=1000000GiB'];
  const backup = join(dir, 'backup');
  for (const command of [
    ['db', 'compact', config],
    ['db', 'verify', config, '--full'],
    ['backup', 'create', config, backup],
    ['chain', 'hash', config, '--running'],
  ]) {
    const { code, stderr } = await run([...command, ...huge]);
    t.equal(code, 1);
    t.match(
      stderr,
      /the copy needs \d+ bytes in .* of storage\.free-space-min, where \d+ bytes are/,
    );
  }
  t.notOk(existsSync(backup));
  const before = await answer(['verify', config]);
  const done = await answer(['compact', config]);
  t.ok(Number(done['bytesAfter']) < Number(done['bytesBefore']), JSON.stringify(done));
  t.ok(Number((await answer(['stat', config]))['freePages']) < 4);
  const { pages: _, ...facts } = before;
  t.match(await answer(['verify', config, '--full']), { ...facts, full: true });
  const left = readdirSync(join(dir, 'data'));
  t.notOk(
    left.some((name) => name.startsWith('verify-')),
    left.join(),
  );
  const again = await startNode(t, config, { apiKey: API_KEY });
  await eventually('another block', async () =>
    (await again.rest.height()) > Number(before['height']) ? true : undefined,
  );
});

t.test('what is wrong in a store is found', async (t) => {
  const { dir, config } = await networkFolder(t);
  const node = await startNode(t, config, { apiKey: API_KEY });
  await eventually('some blocks', async () => ((await node.rest.height()) > 4 ? true : undefined));
  await node.stop();
  const folder = join(dir, 'data/chain');
  const path = join(folder, 'data.mdb');
  const sound = readFileSync(path);
  const found = async (why: RegExp, ...flags: string[]): Promise<void> => {
    const { code, stdout, stderr } = await run(['db', 'verify', config, ...flags]);
    t.match([code, stdout], [1, '']);
    t.match(stderr, why);
  };
  /** Rows with right checksums, as a fault of the node would write them. */
  const write = async (table: number, change: (value: Uint8Array) => Uint8Array | undefined) => {
    writeFileSync(path, sound);
    const store = await openLmdbStore({ folder, tables });
    const [row] = [...store.range(table, START_OF_TABLE, END_OF_TABLE, 10, true)];
    await store.write([{ table, key: row![0], value: change(row![1]) }]);
    await store.close();
  };
  await write(accounts.id, (value) => value.map((byte, i) => (i === 7 ? byte ^ 1 : byte)));
  await found(/native balances sum up to|does not end with its present state/);
  await write(stateHashes.id, (value) => value.map((byte) => byte ^ 1));
  t.match(await answer(['verify', config]), { full: false });
  await found(/another state after block \d+ than its transactions lead to/, '--full');
  await write(blocksByGenerator.id, () => undefined);
  t.match(await answer(['verify', config]), { full: false });
  await found(/the table blocksByGenerator .*row/, '--full');
  writeFileSync(path, sound);
  await found(/other settings of the network/, '--set', 'blockchain.consensus.round-duration=7s');

  const bytes = Buffer.from(sound);
  for (let page = 8192; page < bytes.length; page += 4096) bytes.fill(0x5a, page + 64, page + 80);
  writeFileSync(path, bytes);
  await found(/the store in .* is damaged/);
  t.match(
    (await run(['db', 'compact', config])).stderr,
    /is damaged.*: start the node, which repairs/,
  );
  t.match((await run(['db', 'stat', config])).stderr, /is damaged|^$/);
  writeFileSync(path, '');
  await found(/there is no store in/);
});

interface TableRow {
  readonly table: string;
  readonly rows: number;
}

const tableIn = (stat: Record<string, unknown>, name: string): TableRow =>
  (stat['tables'] as TableRow[]).find(({ table }) => table === name)!;
