// A block that comes to its successor when the turn of that has begun. The successor waits for it, and for
// no longer than its turn allows.
import t, { type Test } from 'tap';
import { equal } from '../../src/base/bytes.ts';
import { headerRowAt } from '../../src/chain/store/stored-blocks.ts';
import { blockProtocols, encodeCompact } from '../../src/network/messages/block-messages.ts';
import { txProtocols } from '../../src/network/messages/transaction-messages.ts';
import type { NodePorts } from '../../src/node/node-ports.ts';
import { account, payment, scheme } from '../chain/chain-harness.ts';
import { type ClusterNode, cluster, ROUND_MS, SYNC_MS, tipOf } from '../network/cluster.ts';
import { maverick } from '../network/maverick.ts';

const TURN_MS = ROUND_MS - SYNC_MS;
const ANNOUNCED_MS = 100;
const carol = account('carol');
const NAMES = ['one', 'two', 'three'];

type Scene = Awaited<ReturnType<typeof scene>>;

t.setTimeout(120_000);

/** Three miners; signatures are judged when `judges` has resolved. */
async function scene(t: Test, others: readonly string[] = []) {
  const at = await cluster(t, { miners: NAMES, others, set: ['miner.quorum=0'] });
  const court = { judges: Promise.resolve() };
  const around = (ports: NodePorts): NodePorts => ({
    ...ports,
    verifier: {
      ...ports.verifier,
      verify: async (items) => {
        await court.judges;
        return ports.verifier.verify(items);
      },
    },
  });
  const nodes = await Promise.all(NAMES.map((name) => at.start(name, { around })));
  await at.rounds(7);
  return { at, nodes, court };
}

/**
 * The block of a miner, with a transaction that nobody else has, is announced 100 ms before the end of
 * its round. What the miner sends afterwards arrives `restMs` after the beginning of the next turn, and
 * signatures are judged `judgedMs` after that beginning. Ends with the turn of its successor.
 */
async function late({ at, nodes, court }: Scene, restMs: number, judgedMs = 0) {
  const [maker] = nodes as [ClusterNode];
  const { start } = maker.node.blockchain.nextSlot(maker, at.clock.now() + ROUND_MS)!;
  await at.clock.advanceTo(start - 1);
  const next = start + ROUND_MS;
  at.faults = ({ from, protocol }) => {
    if (protocol.endsWith(txProtocols.hashes)) return { lost: true };
    if (from !== maker.host) return {};
    const now = at.clock.now();
    const arrives = now < next - ANNOUNCED_MS ? next - ANNOUNCED_MS : next + restMs;
    return { delayMs: Math.max(0, arrives - now) };
  };
  if (judgedMs > 0) {
    court.judges = new Promise((resolve) =>
      at.clock.after(next + judgedMs - at.clock.now(), resolve),
    );
  }
  await maker.node.pool.submit(payment(maker, carol, 1n, start - 1));
  await at.clock.advanceTo(next + ROUND_MS - 1);
  const others = nodes.filter((node) => node !== maker);
  const successor = others.find((node) => equal(tipOf(node).header.generator, node.publicKey))!;
  return { maker, successor, others, waitedMs: tipOf(successor).header.timestamp - next };
}

/** Who made the block below the newest one. */
function makerBefore({ node: { blockchain } }: ClusterNode): Uint8Array {
  return headerRowAt(blockchain.view, blockchain.tip().height - 1)!.header.generator;
}

t.test('the rest of the block comes in the turn of the successor', async (t) => {
  const restMs = 800;
  const at = await scene(t);
  const { maker, successor, others, waitedMs } = await late(at, restMs);
  for (const node of others) {
    t.same(makerBefore(node), maker.publicKey, 'the block stays');
    t.same(tipOf(node).id, tipOf(successor).id, 'and its successor stands on it');
  }
  t.ok(waitedMs >= restMs && waitedMs < TURN_MS / 4, `${waitedMs} ms`);
  at.at.faults = () => ({});
  await at.at.rounds(3);
  for (const { log } of at.nodes) t.same(log.of('chain.reorganised'), []);
});

t.test('the rest of the block never comes', async (t) => {
  const at = await scene(t);
  const { successor, others, waitedMs } = await late(at, 4 * ROUND_MS);
  t.ok(waitedMs >= TURN_MS / 4 && waitedMs < TURN_MS / 4 + 50, `its own after ${waitedMs} ms`);
  for (const node of others) t.same(tipOf(node).id, tipOf(successor).id);
  at.at.faults = () => ({});
  await at.at.rounds(12);

  const again = await late(at, 4 * ROUND_MS);
  t.equal(again.waitedMs, 200, 'who has kept one back is not waited for again');
  at.at.faults = () => ({});
  await at.at.rounds(5);
});

t.test('the block is here, and is judged in the turn of the successor', async (t) => {
  const judgedMs = TURN_MS / 3;
  const { maker, others, waitedMs } = await late(await scene(t), 0, judgedMs);
  t.ok(waitedMs >= judgedMs && waitedMs < TURN_MS / 2, `${waitedMs} ms`);
  for (const node of others) t.same(makerBefore(node), maker.publicKey, 'the block stays');
});

t.test('anybody makes up a header with the key of the one whose turn it is', async (t) => {
  const { at, nodes } = await scene(t, ['maverick']);
  const mav = await maverick(t, at, 'maverick');
  mav.pester(nodes);
  await at.rounds(1);
  const [maker] = nodes as [ClusterNode];
  const { start } = maker.node.blockchain.nextSlot(maker, at.clock.now() + ROUND_MS)!;
  await at.clock.advanceTo(start - 300);
  const { header, id } = tipOf(maker);
  const forged = {
    ...header,
    reference: id,
    timestamp: start,
    generator: maker.publicKey,
    signature: new Uint8Array(64).fill(7),
  };
  const unknown = [{ hash: new Uint8Array(32).fill(7) }];
  const message = encodeCompact({ header: forged, txs: unknown }, scheme);
  mav.session(maker)?.notify(blockProtocols.newBlock, message);
  await at.clock.advanceTo(start + TURN_MS / 2);
  const made = tipOf(maker).header;
  t.same(made.generator, maker.publicKey);
  t.equal(made.timestamp - start, 200, 'it does not wait for its own block');
});
