/**
 * Chains that an earlier release made replay to the state hashes that it had, on every route by
 * which blocks come to a node (test/chain/fixture/make.ts says how they were made).
 *
 * A rule of consensus changes only by a feature. Where this test fails, a rule has changed for
 * chains that never voted for it: mend the rule, and never the files.
 */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import { createVerifyThreads } from '../../src/adapters/verify/signature-threads.ts';
import { encodeHex } from '../../src/base/hex.ts';
import type { Store } from '../../src/base/ports/store.ts';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import type { Block } from '../../src/block/block.ts';
import { importBlocks } from '../../src/chain/import/import-blocks.ts';
import { auditChain } from '../../src/chain/store/audit.ts';
import { readChainFile } from '../../src/cli/commands/chain/chain-file.ts';
import { cryptographyOfConfig } from '../../src/cli/cryptography.ts';
import { genesisBlock } from '../../src/cli/genesis-block.ts';
import { decodeBanHistory } from '../../src/consensus/ban-history.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../src/ledger/key-codecs.ts';
import { bans, tables } from '../../src/ledger/tables.ts';
import { builtins } from '../../src/script/evaluation/functions.ts';
import type { Header, Tree } from '../../src/script/language/tree.ts';
import { createScripts } from '../../src/script/script.ts';
import { allTypes } from '../../src/tx/registry.ts';
import { activeFeatures, feature, implementedFeatures } from '../../src/tx/rules/features.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { decodeTx } from '../../src/tx/tx-bytes.ts';
import { run } from '../cli/run.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { quiet } from './chain-harness.ts';
import {
  configFile,
  configOf,
  type FixtureChain,
  type FixtureName,
  fixtureNames,
  openFixture,
} from './fixture/open.ts';

t.setTimeout(240_000);

interface Fixture {
  readonly name: FixtureName;
  /** The file in the format of `chain export`. */
  readonly file: string;
  /** From height 2 on. */
  readonly blocks: readonly Block[];
  /** Those of the genesis block too. */
  readonly txs: readonly Tx[];
  readonly facts: {
    readonly activeFeatures: readonly number[];
    /** From height 1 on. */
    readonly stateHashes: readonly string[];
  };
}

const folder = mkdtempSync(join(tmpdir(), 'fixture-chain-'));
const fixtures = await Promise.all(fixtureNames.map(fixtureOf));

async function fixtureOf(name: FixtureName): Promise<Fixture> {
  const packed = new URL(`fixture/${name}.chain.gz`, import.meta.url);
  const facts = new URL(`fixture/${name}.json`, import.meta.url);
  const file = join(folder, `${name}.chain`);
  writeFileSync(file, gunzipSync(readFileSync(packed)));
  const config = await configOf(configFile(name));
  const { scheme } = cryptographyOfConfig(config);
  const source = await readChainFile(file, scheme);
  const blocks = await Array.fromAsync(source.blocks);
  const txs = [genesisBlock(config), ...blocks].flatMap(({ transactions }) =>
    transactions.map((bytes) => decodeTx(bytes, scheme)),
  );
  return { name, file, blocks, txs, facts: JSON.parse(readFileSync(facts, 'utf8')) };
}

/** Every height has the hash that the release had which made the chain. */
function sameHashes(t: Test, { blockchain }: FixtureChain, { facts }: Fixture, upTo: number): void {
  const hashes = facts.stateHashes.slice(0, upTo);
  t.equal(blockchain.tip().height, hashes.length, 'the height');
  const differs = hashes.findIndex((hash, i) => hash !== hashOf(blockchain.stateHash(i + 1)));
  t.equal(differs, -1, 'the index of the first state hash that differs');
}

const hashOf = (hash: Uint8Array | undefined): string =>
  hash === undefined ? '' : encodeHex(hash);

/** Imports it, takes all of it back, and appends it block by block. */
async function thereAndBack(
  t: Test,
  fixture: Fixture,
  store: Store,
  threads?: Verifier,
): Promise<FixtureChain> {
  const { blocks, facts } = fixture;
  const chain = await openFixture(configFile(fixture.name), store, threads);
  const { blockchain, clock, verifier, rules } = chain;
  auditChain(blockchain, 'state', (broken) => t.fail(broken.join('; ')));
  clock.time = blocks.at(-1)!.header.timestamp;
  await importBlocks(blockchain, verifier, blocks, { from: 2 });
  sameHashes(t, chain, fixture, Number.POSITIVE_INFINITY);
  const active = activeFeatures(blockchain.view, blockchain.tip().height + 1, rules);
  t.same(
    [...active].sort((a, b) => a - b),
    facts.activeFeatures,
    'no feature more, and none less',
  );
  await blockchain.rollback(1);
  sameHashes(t, chain, fixture, 1);
  for (const block of blocks) {
    clock.time = block.header.timestamp;
    await blockchain.append(block);
  }
  sameHashes(t, chain, fixture, Number.POSITIVE_INFINITY);
  return chain;
}

const inMemory = new Map<FixtureName, FixtureChain>();

for (const fixture of fixtures) {
  t.test(`${fixture.name}, in memory`, async (t) => {
    inMemory.set(fixture.name, await thereAndBack(t, fixture, createMemoryStore()));
  });

  t.test(`${fixture.name}, on disk, with threads that check`, async (t) => {
    const { family } = cryptographyOfConfig(await configOf(configFile(fixture.name)));
    const store = await openLmdbStore({ folder: join(folder, fixture.name), tables });
    const threads = createVerifyThreads(family, { log: quiet });
    t.teardown(async () => {
      await threads.close();
      await store.close();
    });
    await thereAndBack(t, fixture, store, threads);
  });

  t.test(`${fixture.name}, by the command`, async (t) => {
    const { name, file, facts } = fixture;
    const data = ['--set', `data-directory=${join(folder, `${name}-by-command`)}`];
    const chain = async (...args: string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await run(['chain', ...args, ...data]);
      t.equal(code, 0, stderr);
      return JSON.parse(stdout);
    };
    const stateHash = facts.stateHashes.at(-1);
    const height = facts.stateHashes.length;
    t.match(await chain('import', configFile(name), file), { height, stateHash });
    const exported = join(folder, `${name}-again`);
    await chain('export', configFile(name), exported, '--file-version', '1');
    t.ok(readFileSync(exported).equals(readFileSync(file)), 'the export has the same bytes');
    await chain('rollback', configFile(name), '5');
    t.match(await chain('hash', configFile(name)), { stateHash: facts.stateHashes[4] });
  });
}

t.test('every type, version and layout that a block may hold occurs', async (t) => {
  const found = new Set<string>();
  const note = ({ def, layout }: Tx): void => void found.add(nameOf(def.type, layout));
  for (const { txs } of fixtures) {
    for (const tx of txs) {
      note(tx);
      const inside = tx.def.inner?.(tx);
      if (inside !== undefined) note(inside);
    }
  }
  // Atomic transactions were built after these chains: test/node/atomic.test.ts has them.
  const known = implementedFeatures.filter((id) => id !== feature.atomic);
  const possible = allTypes.flatMap(({ type, layouts }) =>
    layouts
      .filter(({ feature: id }) => id === undefined || known.includes(id))
      .map((layout) => nameOf(type, layout)),
  );
  const missing = possible.filter((name) => !found.has(name));
  t.same(missing, ['2 v1'], 'payments are read and never accepted');
});

const nameOf = (type: number, { version, variant = '' }: Tx['layout']): string =>
  `${type} v${version}${variant && ` ${variant}`}`;

t.test('every function of the script language occurs', async (t) => {
  for (const { name, txs } of fixtures.filter(({ name }) => name !== 'senders')) {
    const { scheme } = cryptographyOfConfig(await configOf(configFile(name)));
    const scripts = createScripts(scheme.secureHash);
    const called = new Set<Header>();
    for (const { fields } of txs) {
      if (!(fields['script'] instanceof Uint8Array)) continue;
      for (const header of callsIn(scripts.read(fields['script']).tree)) called.add(header);
    }
    const missing = builtins.map(({ header }) => header).filter((header) => !called.has(header));
    t.same(missing, [], name);
  }
});

function* callsIn(tree: Tree): Generator<Header> {
  if (tree.op === 'call') yield tree.header;
  for (const part of Object.values(tree).flat()) {
    if (typeof part === 'object' && part !== null && 'op' in part) yield* callsIn(part as Tree);
  }
}

t.test('miners were banned', async (t) => {
  for (const name of ['poa', 'gost'] as const) {
    const { view } = inMemory.get(name)!.blockchain;
    const histories = [...view.range(bans, START_OF_TABLE, END_OF_TABLE, 100)].map(([, row]) =>
      decodeBanHistory(row, view.scheme),
    );
    t.ok(
      histories.some((history) => history.bans.length > 0),
      'bans',
    );
    t.ok(
      histories.some((history) => history.warnings.length > 0),
      'warnings',
    );
  }
});
