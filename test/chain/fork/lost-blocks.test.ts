// A block that lost, carried by a child of the winner (consensus.md#turn-claims): the maker of the child
// and everybody who takes it, by gossip, by sync and by import, mark nobody for it.

import t from 'tap';
import { type Block, decodeBlock } from '../../../src/block/block.ts';
import { type LostTurn, type TurnClaims, turnBytes } from '../../../src/block/turn-claims.ts';
import { consensusView } from '../../../src/chain/apply/consensus-view.ts';
import { createLostBlocks, type LostBlocks } from '../../../src/chain/fork/lost-blocks.ts';
import { importBlocks, replayBlocks } from '../../../src/chain/import/import-blocks.ts';
import { blockAt } from '../../../src/chain/store/stored-blocks.ts';
import { feature } from '../../../src/tx/rules/features.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';
import {
  type Account,
  account,
  consensus,
  GENESIS_TIME,
  LENGTH_MS,
  miners,
  newChain,
  remade,
  rules,
  scheme,
  type TestChain,
  verifier,
} from '../chain-harness.ts';
import { createTestForkChoice } from '../fork-harness.ts';
import { makeBlock } from '../make-block.ts';

const WITH_CLAIMS: typeof rules = {
  ...rules,
  preActivatedFeatures: new Map([...rules.preActivatedFeatures, [feature.lostBlocks, 0]]),
};

interface Node extends TestChain {
  readonly lost: LostBlocks;
}

async function node(settings = WITH_CLAIMS): Promise<Node> {
  const at = await newChain(createMemoryStore(), settings);
  return { ...at, lost: createLostBlocks({ ...at, consensus, verifier }) };
}

const startOf = (round: number): number => GENESIS_TIME + round * LENGTH_MS;

/** The miner whose turn the round is on this chain, which makes a block in it. */
async function mineIn(at: Node, round: number): Promise<Block> {
  const from = startOf(round);
  const miner = miners.find((one) => at.blockchain.nextSlot(one, from)?.from === from);
  if (miner === undefined) throw new Error('somebody has the turn');
  at.clock.time = from + 10;
  const maker = { ...miner, seen: at.lost.turns };
  return makeBlock(at.blockchain, maker, at.clock.time, async () => {});
}

async function take(at: Node, block: Block): Promise<string> {
  at.clock.time = Math.max(at.clock.time, block.header.timestamp + 1);
  const { kind } = await createTestForkChoice(at).offer(decodeBlock(block.bytes, scheme));
  return kind;
}

const claimsOf = ({ header }: Block): TurnClaims | undefined =>
  header.consensus.kind === 'poa' ? header.consensus.claims : undefined;

const makerOf = ({ header }: Block): Account =>
  miners.find(({ publicKey }) => `${publicKey}` === `${header.generator}`)!;

const marksOf = ({ blockchain }: TestChain, { address }: Account): number => {
  const history = consensusView(blockchain.view).banHistory(address);
  return (history?.warnings.length ?? 0) + (history?.bans.length ?? 0);
};

const hashOf = ({ blockchain }: TestChain): string =>
  `${blockchain.stateHash(blockchain.tip().height)}`;

/**
 * Two blocks that everybody has; one of the third round, which the maker of the fourth does not get;
 * and the one of the fourth, which loses against it.
 */
async function lostAgainst(settings = WITH_CLAIMS) {
  const most = await node(settings);
  const alone = await node(settings);
  const common: Block[] = [];
  for (const round of [1, 2]) {
    common.push(await mineIn(most, round));
    await take(alone, common.at(-1)!);
  }
  const winner = await mineIn(most, 3);
  const loser = await mineIn(alone, 4);
  most.clock.time = loser.header.timestamp + 1;
  return { most, alone, common, winner, loser };
}

t.test('the next block carries the turn, and its miner is not marked', async (t) => {
  const { most, common, winner, loser } = await lostAgainst();
  t.equal(claimsOf(winner), undefined, 'no round was skipped');
  t.equal(claimsOf(loser)?.lost.length, 0);
  t.equal(await take(most, loser), 'not-better');
  await most.lost.note(loser.header);
  const next = await mineIn(most, 5);
  t.strictSame(claimsOf(next)?.lost, [
    {
      timestamp: loser.header.timestamp,
      reference: loser.header.reference,
      generator: loser.header.generator,
      signature: claimsOf(loser)!.own,
    },
  ]);
  t.equal(marksOf(most, makerOf(loser)), 0);

  const chain = [...common, winner, next];
  const byOne = await node();
  for (const block of chain) t.equal(await take(byOne, block), 'adopted');
  const bySync = await node();
  bySync.clock.time = most.clock.time;
  const fork = createTestForkChoice(bySync);
  const branch = chain.map(({ bytes }) => decodeBlock(bytes, scheme));
  t.match(await fork.adopt(await Promise.all(branch.map((block) => fork.check(block)))), {
    kind: 'adopted',
  });
  const byImport = await node();
  byImport.clock.time = most.clock.time;
  await importBlocks(byImport.blockchain, verifier, chain, { from: 2 });
  const byReplay = await node();
  byReplay.clock.time = most.clock.time;
  await replayBlocks(byReplay.blockchain, chain, { from: 2 });
  for (const other of [byOne, bySync, byImport, byReplay]) {
    t.equal(hashOf(other), hashOf(most));
    t.equal(marksOf(other, makerOf(loser)), 0);
    const { height } = other.blockchain.tip();
    t.same(blockAt(other.blockchain.view, height)!.bytes, next.bytes, 'the bytes as they came');
  }
});

t.test('the loser takes over the chain that carries its turn', async (t) => {
  const { most, alone, winner, loser } = await lostAgainst();
  await most.lost.note(loser.header);
  const next = await mineIn(most, 5);
  alone.clock.time = most.clock.time;
  const fork = createTestForkChoice(alone);
  const branch = await Promise.all([winner, next].map((block) => fork.check(block)));
  t.match(await fork.adopt(branch), { kind: 'adopted' });
  t.equal(hashOf(alone), hashOf(most));
  const header = alone.lost.turns().find(({ timestamp }) => timestamp === loser.header.timestamp);
  t.ok(header, 'what it had in its chain itself is known too');
});

t.test('what comes late or is not signed is carried by nobody', async (t) => {
  const { most, loser } = await lostAgainst();
  const late = most.clock.time;
  most.clock.time = startOf(5);
  await most.lost.note(loser.header);
  t.strictSame(most.lost.turns(), [], 'its round is over');
  most.clock.time = loser.header.timestamp - 1000;
  await most.lost.note(loser.header);
  t.strictSame(most.lost.turns(), [], 'its round is to come');
  most.clock.time = late;
  const claims = { own: new Uint8Array(64), lost: [] };
  const data = { ...loser.header.consensus, claims } as typeof loser.header.consensus;
  await most.lost.note({ ...loser.header, consensus: data });
  await most.lost.note({ ...loser.header, generator: account('a stranger').publicKey });
  t.strictSame(most.lost.turns(), []);
  const next = await mineIn(most, 5);
  t.strictSame(claimsOf(next)?.lost, []);
  t.equal(marksOf(most, makerOf(loser)), 1, 'so its miner has missed its turn');
});

t.test('a forged header of the same turn does not stand for the good one', async (t) => {
  const { most, loser } = await lostAgainst();
  const claims = { own: new Uint8Array(64), lost: [] };
  const data = { ...loser.header.consensus, claims } as typeof loser.header.consensus;
  const forged = most.lost.note({ ...loser.header, consensus: data });
  await Promise.all([forged, most.lost.note(loser.header)]);
  t.same(most.lost.turns()[0]?.signature, claimsOf(loser)!.own);
});

t.test('the memory of turns is bounded', async (t) => {
  const { most, loser } = await lostAgainst();
  const maker = makerOf(loser);
  for (let round = 100; round < 300; round++) {
    const turn = { ...loser.header, timestamp: startOf(round) };
    const claims = { own: maker.sign(turnBytes(turn, scheme)), lost: [] };
    most.clock.time = turn.timestamp;
    await most.lost.note({ ...turn, consensus: { kind: 'poa', skippedRounds: 0, claims } });
  }
  t.equal(most.lost.turns().length, 64);
  t.equal(most.lost.turns().at(-1)?.timestamp, startOf(299));
});

t.test('a block with a claim that breaks a rule is refused on every way', async (t) => {
  const { most, common, winner, loser } = await lostAgainst();
  await most.lost.note(loser.header);
  const next = await mineIn(most, 5);
  const good = claimsOf(next)!;
  const miner = makerOf(next);
  const [turn] = good.lost as [LostTurn];
  const other = miners.find((one) => one !== miner && one !== makerOf(loser))!;
  const changed = (claims: TurnClaims): Block =>
    remade(next, miner, {
      consensus: { ...next.header.consensus, claims } as typeof next.header.consensus,
    });
  const bad = {
    'the lost turn is not signed': changed({
      ...good,
      lost: [{ ...turn, timestamp: turn.timestamp + 1 }],
    }),
    'its own turn is not signed': changed({ ...good, own: turn.signature }),
    'the turn of another miner': changed({
      ...good,
      lost: [{ ...turn, generator: other.publicKey }],
    }),
    'the same turn twice': changed({ ...good, lost: [turn, turn] }),
  };
  for (const [why, block] of Object.entries(bad)) {
    const at = await node();
    for (const one of [...common, winner]) await take(at, one);
    at.clock.time = next.header.timestamp + 1;
    const verdict = await createTestForkChoice(at).offer(decodeBlock(block.bytes, scheme), {
      isSigned: true,
    });
    t.match(verdict, { kind: 'invalid', isForged: false }, why);
    await t.rejects(at.blockchain.append(block), { code: 199 }, why);
    const chain = [...common, winner, block];
    await t.rejects(importBlocks((await later()).blockchain, verifier, chain, { from: 2 }), {
      code: 199,
    });
    t.equal(await take(at, next), 'adopted', 'the good one is good');
  }
  async function later(): Promise<Node> {
    const at = await node();
    at.clock.time = next.header.timestamp + 1;
    return at;
  }
});

t.test('where the feature is not active, no block claims anything and none may', async (t) => {
  const { most, common, winner, loser } = await lostAgainst(rules);
  t.equal(claimsOf(loser), undefined);
  await most.lost.note(loser.header);
  t.strictSame(most.lost.turns(), []);
  const next = await mineIn(most, 5);
  t.equal(claimsOf(next), undefined);
  t.equal(marksOf(most, makerOf(loser)), 1);

  const miner = makerOf(next);
  const claims = { own: miner.sign(turnBytes(next.header, scheme)), lost: [] };
  const { consensus: data } = next.header;
  const claiming = remade(next, miner, { consensus: { ...data, claims } as typeof data });
  for (const [settings, refusal] of [
    [rules, /ActivationError.*Turns of lost blocks/],
    [WITH_CLAIMS, undefined],
  ] as const) {
    const at = await node(settings);
    for (const block of [...common, winner]) await take(at, block);
    at.clock.time = claiming.header.timestamp + 1;
    if (refusal === undefined) t.equal(await take(at, claiming), 'adopted');
    else await t.rejects(at.blockchain.append(claiming), refusal);
  }
});
