// A node whose own disk fails blames nobody: it remembers no block as invalid, penalises no peer and
// makes no fork of its own, on every route by which blocks come. When its disk works again, it
// catches up by itself and makes blocks.
import t, { type Test } from 'tap';
import { blockProtocols } from '../../src/network/messages/block-messages.ts';
import { payment } from '../chain/chain-harness.ts';
import { agree, type ClusterNode, cluster, heightsOf, tipOf } from './cluster.ts';
import { ENOUGH_BYTES, type FailingDisk, failingDisk } from './failing-disk.ts';
import { blockOn, inFull, maverick, turnOf } from './maverick.ts';

const ROUNDS = 12;
const ROUNDS_MAX = 40;
const BLAME = ['peer.offence', 'block.refused', 'sync.given-up', 'chain.reorganised'];

async function three(t: Test) {
  // Nobody is banned for the turns that it missed.
  const set = ['blockchain.consensus.warnings-for-ban=1000'];
  const network = await cluster(t, { miners: ['a', 'b', 'c'], set });
  const disk = failingDisk();
  const nodes = [await network.start('a'), await network.start('b')];
  const c = await network.start('c', { around: disk.around });
  await network.rounds(6);
  t.ok(agree([...nodes, c]), 'before');
  return { network, disk, nodes, c, all: [...nodes, c] };
}

type Three = Awaited<ReturnType<typeof three>>;

function blamesNobody(t: Test, c: ClusterNode): void {
  for (const event of BLAME) t.strictSame(c.log.of(event), [], event);
  t.strictSame(c.node.services.peers!.penalties.blacklisted(), []);
}

/** Rounds until all have the same head, and a later one by the node itself. */
async function recovers(t: Test, { network, all, c }: Three): Promise<void> {
  const forged = (): number => c.log.of('block.forged').length;
  const before = forged();
  for (let i = 0; i < ROUNDS_MAX && (forged() === before || !agree(all)); i++) {
    await network.rounds(1);
  }
  t.ok(agree(all), `all have the same chain: ${heightsOf(all)}`);
  t.ok(forged() > before, 'and the node makes blocks again');
  blamesNobody(t, c);
}

function fails(disk: FailingDisk, fault: string): void {
  disk.fault = fault;
  disk.freeBytes = fault === 'ENOSPC' ? 0 : ENOUGH_BYTES;
}

function works(disk: FailingDisk): void {
  disk.fault = undefined;
  disk.freeBytes = ENOUGH_BYTES;
}

for (const fault of ['ENOSPC', 'EIO']) {
  t.test(`${fault} while others make blocks`, async (t) => {
    const given = await three(t);
    const { network, disk, nodes, c } = given;
    const { height } = tipOf(c);
    fails(disk, fault);
    await network.rounds(ROUNDS);
    t.equal(tipOf(c).height, height, 'nothing is stored');
    t.ok(tipOf(nodes[0]!).height > height + 5, 'the others go on');
    t.ok(disk.refused > 1, 'the same blocks are tried again');
    t.equal(c.log.of('chain.write-failed').length, 1, 'and the log says so once');
    blamesNobody(t, c);
    t.equal(c.log.of('miner.no-disk').length, 1);
    works(disk);
    await recovers(t, given);
    t.equal(c.log.of('chain.write-works').length, 1);
  });
}

t.test('a branch that replaces blocks', async (t) => {
  const given = await three(t);
  const { network, disk, nodes, c } = given;
  network.part(['a', 'b'], ['c']);
  await network.rounds(9);
  const alone = tipOf(c);
  t.notOk(agree([nodes[0]!, c]), 'c has a branch of its own');
  fails(disk, 'ENOSPC');
  network.heal();
  await network.rounds(ROUNDS);
  t.strictSame(tipOf(c).id, alone.id, 'the rollback is not half done');
  t.ok(disk.refused > 0);
  for (const event of BLAME) t.strictSame(c.log.of(event), [], event);
  works(disk);
  for (let i = 0; i < ROUNDS_MAX && !agree(given.all); i++) await network.rounds(1);
  t.ok(agree(given.all), `${heightsOf(given.all)}`);
  t.equal(c.log.of('chain.reorganised').length, 1);
  t.strictSame(c.log.of('peer.offence'), []);
});

t.test('transactions of peers that cannot be stored', async (t) => {
  const given = await three(t);
  const { network, disk, nodes, c } = given;
  // The journal fails, and nobody has noticed that the disk is full.
  disk.fault = 'ENOSPC';
  const [a] = nodes;
  const { pool } = a!.node;
  for (let i = 0; i < 20; i++) {
    await pool.submit(payment(a!, c, BigInt(i + 1), network.clock.now()));
    await network.seconds(1);
  }
  t.ok(c.log.of('tx.refused').length > 0, 'they came, and were not taken');
  t.strictSame(c.log.of('peer.offence'), []);
  works(disk);
  await recovers(t, given);
});

t.test('the limit of free space', async (t) => {
  const given = await three(t);
  const { network, disk, nodes, c } = given;
  const [a] = nodes;
  disk.freeBytes = c.config.storage.freeSpaceMin - 1;
  await network.seconds(3);
  t.match(c.log.of('disk.low'), [{ free: disk.freeBytes }], 'the log says so, once');
  const forged = c.log.of('block.forged').length;
  const refusal = await c.node.pool
    .submit(payment(c, a!, 1n, network.clock.now()))
    .then(() => undefined)
    .catch((error) => error);
  t.match(refusal, { status: 503, code: 640, entry: 'DiskLow' });
  await a!.node.pool.submit(payment(a!, c, 2n, network.clock.now()));
  await network.seconds(2);
  t.equal(c.node.pool.size(), 0, 'it takes nothing from peers either');
  await network.rounds(ROUNDS);
  t.equal(c.log.of('block.forged').length, forged, 'it makes no block');
  t.ok(agree(given.all), 'and follows the chain all the same');
  t.equal(c.log.of('miner.no-disk').length, 1);
  disk.freeBytes = c.config.storage.freeSpaceMin;
  await network.seconds(3);
  t.strictSame(c.log.of('disk.recovered'), [], 'a margin keeps it from going back and forth');
  works(disk);
  await recovers(t, given);
  t.equal(c.log.of('disk.recovered').length, 1);
  t.equal(c.log.of('disk.low').length, 1);
});

t.test('an announced block is judged again, and relayed once', async (t) => {
  const network = await cluster(t, { miners: ['a', 'maverick'], others: ['ear'] });
  const disk = failingDisk();
  const a = await network.start('a', { around: disk.around });
  const [mav, ear] = [await maverick(t, network, 'maverick'), await maverick(t, network, 'ear')];
  mav.pester([a]);
  ear.pester([a]);
  await network.seconds(1);
  for (let i = 0; i < ROUNDS_MAX && turnOf(a, mav, network.clock.now()) === undefined; i++) {
    await network.seconds(1);
  }
  const message = inFull(blockOn(a, mav, network.clock.now()));
  const { height } = tipOf(a);
  let relayed = 0;
  network.faults = ({ to, protocol, message: sent }) => {
    if (to === ear.host && protocol.endsWith(blockProtocols.newBlock) && sent.length > 0) relayed++;
    return {};
  };
  const announce = async (): Promise<void> => {
    mav.session(a)!.notify(blockProtocols.newBlock, message);
    await network.clock.advance(100);
  };
  disk.fault = 'EIO';
  await announce();
  t.equal(tipOf(a).height, height, 'it cannot be stored');
  t.equal(relayed, 1);
  disk.fault = undefined;
  await announce();
  t.equal(tipOf(a).height, height + 1);
  t.equal(relayed, 1);
  blamesNobody(t, a);
});
