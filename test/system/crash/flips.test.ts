// Row R15 of the reliability goals: one bit of a stored chain is flipped while the node is stopped.
// Either the next start finds it and the rebuilt chain equals the old one, or no readable row has
// changed. FLIPS sets the number of flips, FLIPS_REBUILT how many of those found are also rebuilt.
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import t from 'tap';
import { generateChain, openChain } from '../../../bench/chain/generate.ts';
import type { DevFolder } from '../../../bench/node/dev-folder.ts';
import { checkFile } from '../../../src/adapters/lmdb/check.ts';
import { openLmdbStore } from '../../../src/adapters/lmdb/store.ts';
import { stderrLog } from '../../../src/adapters/log.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import { encodeHex } from '../../../src/base/hex.ts';
import type { StoreView } from '../../../src/base/ports/store.ts';
import type { Block } from '../../../src/block/block.ts';
import { importBlocks } from '../../../src/chain/import/import-blocks.ts';
import { rebuild } from '../../../src/chain/store/rebuild.ts';
import { blockAt } from '../../../src/chain/store/stored-blocks.ts';
import { openChainStore } from '../../../src/cli/commands/chain/chain-store.ts';
import { loadConfig } from '../../../src/cli/config-file.ts';
import { genesisBlock } from '../../../src/cli/genesis-block.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../../src/ledger/key-codecs.ts';
import { tables } from '../../../src/ledger/tables.ts';
import { openBlockchain } from '../../../src/node/open-blockchain.ts';
import { inlineVerifier } from '../../simulated/inline-verifier.ts';
import { Dice } from '../sim/random.ts';
import { judgeChain } from './witness/cold-chain.ts';

const FLIPS = Number(process.env['FLIPS'] ?? 80);
const REBUILT = Number(process.env['FLIPS_REBUILT'] ?? 2);
const SEED = Number(process.env['FLIPS_SEED'] ?? 1);
const TRANSACTIONS = 2_000;
const PER_BLOCK = 20;
const PAGE_BYTES = 4096;
const META_BYTES = 168;
const HEAD_BYTES = 64;
const MS_EACH_MAX = 30_000;
const quiet = stderrLog('error', false);

t.setTimeout(120_000 + (FLIPS / 20 + REBUILT) * MS_EACH_MAX);

t.test(`${FLIPS} flipped bits are found or harmless`, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'flips-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const { folder } = await generateChain(dir, TRANSACTIONS, { perBlock: PER_BLOCK });
  const { config } = await loadConfig(folder.config, { set: [] });
  const original = join(config.dataDirectory, 'chain', 'data.mdb');
  const intact = readFileSync(original);
  const store = await openLmdbStore({ folder: join(config.dataDirectory, 'chain'), tables });
  const rows = allRows(store);
  await store.close();
  const { blockchain, close } = await openChain(folder);
  const { height } = blockchain.tip();
  const hashes: (Uint8Array | undefined)[] = [];
  for (let at = 0; at <= height; at++) hashes.push(blockchain.stateHash(at));
  const blocks: Block[] = [];
  for (let at = 2; at <= height; at++) blocks.push(blockAt(blockchain.view, at)!);
  await close();
  const cold = await judgeChain(folder.config, folder.scheme);
  t.equal(
    cold.stateHashes[height],
    encodeHex(hashes[height]!),
    'the blocks are good by their bytes',
  );

  const place = join(dir, 'flipped');
  const path = join(place, 'data.mdb');
  const random = new Dice(SEED);
  const counts = { found: 0, harmless: 0, rebuilt: 0, kept: 0 };
  for (let flip = 0; flip < FLIPS; flip++) {
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place);
    copyFileSync(original, path);
    const at = positionOf(flip, intact.length, random);
    const bit = random.below(8);
    const bytes = readFileSync(path);
    bytes[at] = bytes[at]! ^ (1 << bit);
    writeFileSync(path, bytes);
    const where = `bit ${bit} of byte ${at} (${at % PAGE_BYTES} of page ${Math.floor(at / PAGE_BYTES)})`;
    const state = await checkFile(path, tables);
    if (state.kind === 'intact') {
      counts.harmless++;
      const flipped = await openLmdbStore({ folder: place, tables });
      if (allRows(flipped) !== rows) t.fail(`${where} changed rows and was not found`);
      await flipped.close();
      continue;
    }
    counts.found++;
    if (counts.rebuilt >= REBUILT) continue;
    counts.rebuilt++;
    const flipped = await openLmdbStore({ folder: place, tables, replaceDamaged: true });
    const verifier = inlineVerifier(folder.family);
    const ports = { scheme: folder.scheme, store: flipped, verifier, clock: systemClock() };
    const opened = await openBlockchain(config, genesisBlock(config), { ...ports, log: quiet });
    const there = await rebuild(opened.blockchain, verifier, flipped.damaged!.rows, quiet);
    counts.kept += there.height;
    t.strictSame(
      opened.blockchain.stateHash(there.height),
      hashes[there.height],
      `${where}: ${there.height} of ${height} blocks rebuilt`,
    );
    flipped.damaged!.done(there.height === height);
    await importBlocks(opened.blockchain, verifier, blocks.slice(there.height - 1), {
      from: there.height + 1,
    });
    t.strictSame(opened.blockchain.stateHash(height), hashes[height], 'the others come from peers');
    t.equal(allRows(flipped), rows, 'every row is there again');
    await flipped.close();
    t.equal((await checkFile(path, tables)).kind, 'intact', 'the new file is sound');
  }
  t.ok(counts.found > 0 && counts.harmless > 0, 'both kinds of bits were met');
  const mean = Math.round(counts.kept / Math.max(1, counts.rebuilt));
  t.comment(`seed ${SEED}: ${JSON.stringify(counts)}, ${mean} of ${height} blocks kept on average`);
});

t.test('a store from before rows had checksums is rebuilt', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'flips-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const { folder, height } = await generateChain(dir, PER_BLOCK * 5, { perBlock: PER_BLOCK });
  const { config } = await loadConfig(folder.config, { set: [] });
  const place = join(config.dataDirectory, 'chain');
  const hash = await openedHash(folder);
  const store = await openLmdbStore({ folder: place, tables });
  const old = open({ path: join(dir, 'old'), pageSize: PAGE_BYTES, maxDbs: tables.length + 1 });
  const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;
  for (const { id, name } of tables) {
    const table = old.openDB<Uint8Array, Uint8Array>({ ...BINARY, name });
    for (const [key, value] of store.range(id, START_OF_TABLE, END_OF_TABLE, 1e9)) {
      table.putSync(key, value);
    }
  }
  await old.close();
  await store.close();
  copyFileSync(join(dir, 'old', 'data.mdb'), join(place, 'data.mdb'));

  await t.rejects(openLmdbStore({ folder: place, tables }), { message: /no checksums/ });
  const opened = await openChainStore(config, genesisBlock(config), quiet);
  t.equal(opened.damaged?.why, 'its rows have no checksums');
  await opened.close();
  t.equal((await checkFile(join(place, 'data.mdb'), tables)).kind, 'intact');
  t.strictSame(await openedHash(folder), hash, `${height} blocks again`);
  t.strictSame(
    readdirSync(place).sort(),
    ['checked.json', 'data.mdb', 'lock.mdb'],
    'the old file is gone',
  );
});

async function openedHash(folder: DevFolder): Promise<unknown> {
  const { blockchain, close } = await openChain(folder);
  const { height } = blockchain.tip();
  const hash = blockchain.stateHash(height);
  await close();
  return { height, hash };
}

/** Anywhere; in the head of a page, on which all else depends; in one of the two beginnings. */
function positionOf(flip: number, size: number, dice: Dice): number {
  if (flip % 8 === 7) return dice.below(2) * PAGE_BYTES + dice.below(META_BYTES);
  if (flip % 2 === 0) return dice.below(size);
  return dice.below(size / PAGE_BYTES) * PAGE_BYTES + dice.below(HEAD_BYTES);
}

/** Every row of every table, as one text; reading them all must not fail. */
function allRows(view: StoreView): string {
  const lines: string[] = [];
  for (const { id } of tables) {
    for (const [key, value] of view.range(id, START_OF_TABLE, END_OF_TABLE, 1e9)) {
      lines.push(`${id} ${Buffer.from(key).toString('hex')} ${Buffer.from(value).toString('hex')}`);
    }
  }
  return lines.join('\n');
}
