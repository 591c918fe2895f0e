import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { type Block, blockId } from '../../../../src/block/block.ts';
import { readChainFile, writeChainFile } from '../../../../src/cli/commands/chain/chain-file.ts';
import { CliError } from '../../../../src/cli/terminal/exit.ts';
import { genesis, mine, newChain, payment, scheme, users } from '../../../chain/chain-harness.ts';

const [alice, bob] = users;
const FROM = 2;
const COUNT = 3;
const HEAD_BYTES = 22 + 64 + 4;
const END_BYTES = 4 + 4 + 32;

const folder = mkdtempSync(join(tmpdir(), 'chain-file-'));
t.teardown(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'blocks.bin');
const id = blockId(genesis);
const chain = await newChain();
const blocks: Block[] = [];
for (let i = 0; i < COUNT; i++) {
  blocks.push(await mine(chain, [payment(alice, bob, 1n, chain.clock.time)]));
}
/** Where a block ends in the file. */
const ends = [HEAD_BYTES];
for (const { bytes } of blocks) ends.push(ends.at(-1)! + 4 + bytes.length);

/** The blocks that come before the error, if there is one. */
async function readBack(bytes?: Uint8Array): Promise<{ read: Block[]; error: unknown }> {
  if (bytes !== undefined) writeFileSync(path, bytes);
  const read: Block[] = [];
  try {
    for await (const block of (await readChainFile(path, scheme)).blocks) read.push(block);
    return { read, error: undefined };
  } catch (error) {
    return { read, error };
  }
}

t.equal(await writeChainFile(path, id, FROM, blocks), FROM + COUNT - 1);
const whole = readFileSync(path);

t.test('it comes back as it was', async (t) => {
  const file = await readChainFile(path, scheme);
  t.match(file, { from: FROM, hasEnd: true });
  t.strictSame(file.genesisId, Buffer.from(id));
  file.close();
  const { read, error } = await readBack(whole);
  t.equal(error, undefined);
  t.strictSame(
    read.map(({ bytes }) => Buffer.from(bytes)),
    blocks.map(({ bytes }) => Buffer.from(bytes)),
  );
  t.equal(whole.length, ends.at(-1)! + END_BYTES);
});

t.test('a cut shows wherever it is', async (t) => {
  for (let length = 0; length < whole.length; length++) {
    const { read, error } = await readBack(whole.subarray(0, length));
    if (!(error instanceof CliError)) t.fail(`${length} bytes are taken for a whole file`);
    const complete = ends.filter((end) => end > HEAD_BYTES && end <= length).length;
    if (read.length !== complete) t.fail(`${read.length} blocks of ${length} bytes`);
  }
  const { error } = await readBack(whole.subarray(0, ends[2]));
  t.match(error, { message: `'${path}' is cut off: it has no end mark after block 3` });
});

t.test('so does other damage', async (t) => {
  const changed = (at: number): Buffer => {
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 1;
    return bytes;
  };
  const of = async (bytes: Uint8Array) => String((await readBack(bytes)).error);
  t.match(await of(changed(whole.length - 1)), /its checksum is wrong/);
  t.match(await of(changed(HEAD_BYTES - 10)), /its checksum is wrong/);
  t.match(await of(changed(ends.at(-1)! + 7)), /blocks up to 4, but its end mark names 5/);
  t.match(await of(Buffer.concat([whole, whole])), /goes on after its end mark/);
  t.match(await of(changed(ends[1]! + 3)), /./);
  const noBlock = Buffer.from(whole).fill(0xff, ends[1]! + 4, ends[1]! + 24);
  t.match(await of(noBlock), /has bytes in place of block 3 that are no block/);
  t.match(await of(Buffer.from('something else')), /is no exported chain|ends in the middle/);
});

t.test('version 1 is written and read', async (t) => {
  t.equal(await writeChainFile(path, id, FROM, blocks, 1), FROM + COUNT - 1);
  const bytes = readFileSync(path);
  t.equal(bytes.toString('latin1', 0, 22), 'platform-node chain 1\n');
  t.strictSame(bytes.subarray(22), whole.subarray(22, -END_BYTES));
  const file = await readChainFile(path, scheme);
  t.equal(file.hasEnd, false);
  t.equal((await Array.fromAsync(file.blocks)).length, COUNT);
  const cut = await readBack(bytes.subarray(0, ends[2]));
  t.match(cut, { read: { length: 2 }, error: undefined }, 'nothing shows a cut between blocks');
});

t.test('what is there stays where the blocks end with an error', async (t) => {
  writeFileSync(path, whole);
  function* failing(): Generator<Block> {
    yield blocks[0]!;
    throw new Error('the store is damaged');
  }
  await t.rejects(writeChainFile(path, id, FROM, failing()), /the store is damaged/);
  t.strictSame(readFileSync(path), whole);
  t.strictSame(readdirSync(folder), ['blocks.bin'], 'and nothing beside it');
});
