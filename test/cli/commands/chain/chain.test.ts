// chain export|import|rollback|hash on the folder of a stopped node.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openJournal } from '../../../../src/adapters/journal.ts';
import { base58 } from '../../../../src/base/base58.ts';
import { fromLatin1 } from '../../../../src/base/bytes.ts';
import { decodeBlock } from '../../../../src/block/block.ts';
import { untilAsked } from '../../../../src/cli/terminal/interruption.ts';
import { createChainScheme } from '../../../../src/crypto/chain-scheme.ts';
import { isOrderRecord, orderIn } from '../../../../src/mempool/journal/return-order.ts';
import { readRecord } from '../../../../src/miner/slot-records.ts';
import { decodeTx } from '../../../../src/tx/tx-bytes.ts';
import { childEnvironment } from '../../../child-environment.ts';
import { family } from '../../../family.ts';
import { startDevNode } from '../../../system/e2e/dev-node.ts';
import { run } from '../../run.ts';

const BINARY = join(import.meta.dirname, '../../../../bin/platform-node');

t.test('a chain as a file', async (t) => {
  const node = await startDevNode(t, { round: '200ms', finality: false });
  const [owner, other] = [node.accounts[0]!.address, node.accounts[1]!.address];
  const config = join(node.dir, 'node.conf');
  const posted = new Set<string>();
  const transfer = { type: 4, version: 2, sender: owner, recipient: other };
  for (let amount = 1; amount <= 24; amount++) {
    const tx = await node.rest.broadcast(await node.rest.sign({ ...transfer, amount }));
    posted.add(String(tx['id']));
    if (amount % 4 === 0) await node.rest.mined(tx['id']);
  }
  const busy = await run(['chain', 'hash', config]);
  t.equal(busy.code, 75, 'the node holds the folder');
  await node.stop();

  const json = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await run(['chain', ...args]);
    t.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    t.notMatch(stderr, /^height|\r/m, 'no redrawn line where there is no terminal');
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const file = join(node.dir, 'chain.bin');
  const fresh = (name: string) => ['--set', `data-directory=${join(node.dir, name)}`];
  const { height, stateHash } = await json('hash', config);
  const above = await run(['chain', 'hash', config, '99999']);
  t.match(above, { code: 1, stdout: '', stderr: /^there is no block 99999: the last one is / });
  t.match(await json('export', config, file), { from: 2, to: height });

  await t.test('which heights a file has', async (t) => {
    const before = readFileSync(file);
    const above = await run(['chain', 'export', config, file, '--from', '999999']);
    t.match(above, { code: 1, stdout: '' });
    t.match(above.stderr, `there is no block 999999: the last one is ${height}`);
    t.ok(readFileSync(file).equals(before), 'the file stays as it is');
    const late = join(node.dir, 'late.bin');
    t.match(await json('export', config, late, '--from', '4'), { from: 4, to: height });
    const gap = await run(['chain', 'import', config, late, ...fresh('late')]);
    t.match(gap, { code: 1, stdout: '' });
    t.match(gap.stderr, `'${late}' begins with block 4, and the chain ends at height 1: import`);
    const old = join(node.dir, 'version-1.bin');
    await json('export', config, old, '--file-version', '1');
    const read = await run(['chain', 'import', config, old, ...fresh('version-1')]);
    t.match(JSON.parse(read.stdout), { height, stateHash, read: { from: 2, to: height } });
    t.match(
      read.stderr,
      `no end mark, so nothing shows whether it is cut off; its last block is ${height}`,
    );
  });

  await t.test('a mistyped folder', async (t) => {
    const other = join(node.dir, 'other.bin');
    for (const words of [
      ['hash', config],
      ['hash', config, '--running'],
      ['export', config, other],
      ['rollback', config, '2'],
    ]) {
      const refused = await run(['chain', ...words, ...fresh('typo')]);
      t.match(refused, { code: 1, stdout: '' }, words.join(' '));
      t.match(refused.stderr, `there is no store in ${join(node.dir, 'typo')}`);
      t.notOk(existsSync(join(node.dir, 'typo')), 'none is made');
    }
    t.notOk(existsSync(other));
  });

  await t.test('a file that is cut off', async (t) => {
    const cut = join(node.dir, 'cut.bin');
    // In the middle of the last block, whose end mark has 40 bytes.
    writeFileSync(cut, readFileSync(file).subarray(0, -50));
    const good = Number(height) - 1;
    const failed = await run(['chain', 'import', config, cut, ...fresh('cut')]);
    t.match(failed, { code: 1, stdout: '' });
    t.match(failed.stderr, /ends in the middle of a block/);
    t.match(failed.stderr, `the chain ends at height ${good}`);
    t.match(await json('hash', config, ...fresh('cut')), { height: good });
    t.match(await json('import', config, file, ...fresh('cut')), { height, stateHash });
  });

  await t.test('stdout and stdin', async (t) => {
    const writer = spawn(BINARY, ['chain', 'export', config, '-'], { env: childEnvironment() });
    const [bytes, said] = await Promise.all([buffer(writer.stdout), text(writer.stderr)]);
    t.ok(bytes.equals(readFileSync(file)));
    t.match(JSON.parse(said), { file: '-', from: 2, to: height });
    const args = ['chain', 'import', config, '-', ...fresh('from-stdin')];
    const reader = spawn(BINARY, args, { env: childEnvironment() });
    reader.stdin.on('error', () => undefined);
    // The pipe stays open: the command ends all the same.
    reader.stdin.write('a file of another kind'.padEnd(1000));
    const [, error] = await Promise.all([once(reader, 'close'), text(reader.stderr)]);
    t.equal(reader.exitCode, 1);
    t.match(error, "'-' is no exported chain");
  });

  await t.test('an import beside the note of a voter', async (t) => {
    const note = join(node.dir, 'finality-note');
    writeFileSync(note, 'of a voter');
    const refused = await run(['chain', 'import', config, file, ...fresh('noted')]);
    t.equal(refused.code, 1);
    t.match(refused.stderr, /is the note of a voter/);
    const kept = await run(['chain', 'import', config, file, ...fresh('noted'), '--keep-note']);
    t.equal(kept.code, 0, kept.stderr);
    // An empty one says that there is none; the next import has nothing against it.
    writeFileSync(note, '');
  });

  await t.test('import, again, and rollback', async (t) => {
    const imported = await json('import', config, file, ...fresh('second'));
    t.match(imported, { height, transactions: 24, stateHash, read: { from: 2, to: height } });
    const again = await json('import', config, file, ...fresh('second'));
    t.match(again, { height, transactions: 0, stateHash });
    const journal = join(node.dir, 'second', 'pool.journal');
    mkdirSync(journal);
    const refused = await run(['chain', 'rollback', config, '2', ...fresh('second')]);
    t.equal(refused.code, 1, 'what cannot be kept is not rolled back');
    t.match(refused.stderr, /journal of the pool/);
    t.match(await json('hash', config, ...fresh('second')), { height, stateHash });
    rmdirSync(journal);
    const back = await json('rollback', config, '2', ...fresh('second'));
    t.match(back, { height: 2, removedTransactions: Number, keptTransactions: Number });
    const scheme = createChainScheme(family, node.chainId.charCodeAt(0));
    const records = recordsIn(journal);
    const transactions = records.filter((record) => !isOrderRecord(record));
    const kept = transactions.map((record) => base58.encode(decodeTx(record, scheme).id));
    t.equal(new Set(kept).size, back['keptTransactions']);
    const order = Array.from(new Set(orderIn(records)), (id) => base58.encode(fromLatin1(id)));
    t.same(order, kept, 'and so is their order');
    t.same(
      kept.filter((id) => !posted.has(id)),
      [],
    );
    t.ok(kept.length >= 20, `${kept.length} of 24 are for the next start`);
    t.match(await json('hash', config, '2', ...fresh('second')), await json('hash', config, '2'));
    t.match(await json('import', config, file, ...fresh('second')), { height, stateHash });
    t.equal((await run(['chain', 'rollback', config, 'x'])).code, 2);
    t.equal((await run(['chain', 'rollback', config, '999999'])).code, 1);
  });

  await t.test('an interrupted import keeps what it has done', async (t) => {
    // Through a pipe, so that the test and not the speed of the machine says when the file goes on.
    const pipe = join(node.dir, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const args = ['chain', 'import', config, pipe, ...fresh('third')];
    const child = spawn(BINARY, args, { env: childEnvironment() });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (part) => {
      stdout += part;
    });
    child.stderr.on('data', (part) => {
      stderr += part;
    });
    const bytes = readFileSync(file);
    const half = Math.floor(bytes.length / 2);
    const target = createWriteStream(pipe);
    // The command closes the pipe once it reads no more.
    target.on('error', () => undefined);
    const ended = once(child, 'close');
    await new Promise((resolve) => target.write(bytes.subarray(0, half), resolve));
    // It has opened the pipe, so that it has long been listening for signals; let it read.
    await sleep(500);
    child.kill('SIGINT');
    await sleep(100);
    target.end(bytes.subarray(half));
    t.same(await ended, [130, null], stderr);
    const result = JSON.parse(stdout) as { height: number };
    t.ok(result.height > 1 && result.height < Number(height), `${result.height} of ${height}`);
    t.match(stderr, `interrupted at height ${result.height}; the same command goes on from there`);
    t.match(await json('hash', config, ...fresh('third')), { height: result.height });
    t.match(await json('import', config, file, ...fresh('third')), { height, stateHash });
  });
});

t.test('what a rollback says of the blocks of this node', async (t) => {
  const node = await startDevNode(t, { consensus: 'pos' });
  const config = join(node.dir, 'node.conf');
  while ((await node.rest.height()) < 3) await sleep(50);
  await node.stop();
  const idAt = async (height: number): Promise<unknown> => {
    const { body } = await again.rest.get(`/blocks/headers/at/${height}`);
    return (body as { signature: string }).signature;
  };
  const journal = join(node.dir, 'data', 'turns.journal');
  const sealed = recordsIn(journal)
    .map(readRecord)
    .filter(({ kind }) => kind === 'sealed');
  const scheme = createChainScheme(family, node.chainId.charCodeAt(0));
  const ids = sealed.map(({ bytes }) => base58.encode(decodeBlock(bytes, scheme).header.signature));

  const rollback = await run(['chain', 'rollback', config, '1']);
  const own = sealed.length;
  t.match(JSON.parse(rollback.stdout), { height: 1, returningBlocks: own, givenUpTurns: 0 });
  t.match(rollback.stderr, /come back after its start.*--give-up-turns keeps them out/);
  const again = await node.restart();
  while ((await again.rest.height()) < 1 + own) await sleep(50);
  t.strictSame(await Promise.all(ids.map((_, i) => idAt(i + 2))), ids, 'the same blocks');
  await again.stop();

  t.equal((await run(['chain', 'rollback', config, '2'])).code, 0);
  const given = await run(['chain', 'rollback', config, '1', '--give-up-turns']);
  t.equal(given.code, 0, given.stderr);
  t.match(JSON.parse(given.stdout), { height: 1, returningBlocks: 0, givenUpTurns: Number });
  t.match(given.stderr, /warning: .*after height 1, the chain ends there/);
  const last = await again.restart();
  await sleep(3_000);
  t.equal(await last.rest.height(), 1, 'it signs nothing in these turns');
  await last.stop();
});

function recordsIn(path: string): readonly Uint8Array[] {
  const journal = openJournal({ path });
  t.teardown(() => journal.close());
  return journal.recovered;
}

t.test('a stream ends when somebody asks', async (t) => {
  let isAsked = false;
  const seen = [];
  async function* numbers() {
    for (let i = 1; i < 10; i++) yield i;
  }
  for await (const item of untilAsked(numbers(), { isAsked: () => isAsked })) {
    seen.push(item);
    isAsked = item === 3;
  }
  t.same(seen, [1, 2, 3]);
});
