// A node of three whose disk becomes full, first below the limit and then completely: it stops making
// blocks and taking transactions, blames none of its neighbours, and makes no fork of its own. It
// catches up and makes blocks again as soon as there is space, without a restart. The disk is a
// small file system in memory, which only root can mount; for other users the test is skipped.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { eventually } from '../e2e/process.ts';
import { agreed, processNetwork } from '../e2e/process-network.ts';

const MIB = 1024 * 1024;
const DISK_BYTES = 64 * MIB;
const LIMIT_BYTES = 16 * MIB;
const ROUND_MS = 500;
const BLOCKS = 30;
const SMALL = 2;

t.setTimeout(300_000);

const dir = mkdtempSync(join(tmpdir(), 'full-network-'));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
const disk = join(dir, 'disk');
mkdirSync(disk);
const ballast = join(disk, 'ballast');

function mounted(): boolean {
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk];
    execFileSync('mount', options, { stdio: 'ignore' });
    t.teardown(() => execFileSync('umount', ['--lazy', disk]));
    return true;
  } catch {
    return false;
  }
}

/** The disk only gets fuller, so that the node sees no room in between. */
function fill(bytesLeft: number): void {
  const { bavail, bsize } = statfsSync(disk);
  appendFileSync(ballast, new Uint8Array(Math.max(0, bavail * bsize - bytesLeft)));
}

const skip = mounted() ? false : 'no file system can be mounted here';

t.test('one of three nodes has a full disk', { skip }, async (t) => {
  const { nodes, accounts, connected } = await processNetwork(t, {
    nodes: 3,
    roundMs: ROUND_MS,
    set: (index) => [
      // Nobody is banned for the turns that it missed.
      'blockchain.consensus.warnings-for-ban=1000',
      `storage.free-space-min=${LIMIT_BYTES}`,
      ...(index === SMALL ? [`data-directory=${disk}`] : []),
    ],
  });
  await Promise.all(nodes.map(({ start }) => start()));
  await connected();
  await agreed(nodes, 5);
  const [first, , small] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]];
  const linesOf = (event: string): JsonObject[] =>
    small
      .log()
      .split('\n')
      .filter((line) => line.includes(`"event":"${event}"`))
      // A library writes of the full disk without an end of line.
      .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as JsonObject);
  const forged = (): number[] => linesOf('block.forged').map(({ height }) => Number(height));
  const user = accounts.at(-1)!.address;
  let amount = 0;
  const transfer = async ({ rest }: typeof small) => {
    const fields = { type: 4, version: 2, fee: 1_000_000, attachment: '' };
    const tx = { ...fields, sender: user, recipient: user, amount: ++amount };
    return rest.post('/transactions/broadcast', await first.rest.sign(tx));
  };
  t.equal((await transfer(small)).status, 200, 'there is space');

  fill(LIMIT_BYTES / 2);
  await eventually('the limit', async () => linesOf('disk.low')[0]);
  const ready = await small.rest.get('/health/ready');
  t.match(ready, { status: 503, body: { reasons: [{ code: 'disk' }] } });
  t.match(await transfer(small), { status: 503, body: { error: 640 } });
  const before = forged();
  const low = await agreed(nodes, 0);
  await agreed(nodes, low + 6);
  t.same(forged(), before, 'it makes no blocks, and follows the chain');

  fill(0);
  const full = await small.rest.height();
  await eventually('blocks that it cannot store', async () => {
    await transfer(first);
    const height = await first.rest.height();
    return (linesOf('chain.write-failed').length > 0 && height > full + BLOCKS) || undefined;
  });
  const behind = await small.rest.height();
  // A small block may still fit in pages that the store has given back.
  const said = linesOf('chain.write-failed').length;
  t.ok(said <= 1 + behind - full, `said ${said} times, once after each stored block`);
  t.ok(behind < (await first.rest.height()) - BLOCKS / 2, `it stands at ${behind}`);
  t.same(forged(), before);

  rmSync(ballast);
  const after = await agreed(nodes, await first.rest.height());
  t.ok(after > behind, `it has caught up to ${after}`);
  const again = await eventually('a block of its own', async () => {
    const heights = forged().slice(before.length);
    return heights.length > 2 ? heights : undefined;
  });
  const end = await agreed(nodes, Math.max(...again) + 2);
  for (const height of again) {
    const { body } = await first.rest.get(`/blocks/headers/at/${height}`);
    t.match(body, { generator: small.owner.address }, `${height} of ${end} is in the chain`);
  }
  t.equal((await transfer(small)).status, 200, 'it takes transactions again');
  t.match(await small.rest.get('/health/ready'), { status: 200 });
  for (const event of ['peer.offence', 'block.refused']) t.same(linesOf(event), [], event);
  t.equal(linesOf('disk.recovered').length, 1);
  t.strictSame((await small.rest.get('/peers/blacklisted')).body, []);
});
