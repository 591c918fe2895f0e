// Operators name the voters from a block on (finality.md#overrides): on all routes, and nowhere else.
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { equal } from '../../../src/base/bytes.ts';
import type { Block } from '../../../src/block/block.ts';
import { headerHash } from '../../../src/block/header.ts';
import { proofOfBlock } from '../../../src/chain/finality/block-proof.ts';
import { storedFinal } from '../../../src/chain/finality/carriers.ts';
import { finalProofWrite } from '../../../src/chain/finality/final-floor.ts';
import { FinalityIndex } from '../../../src/chain/finality/finality-index.ts';
import { leavesAt } from '../../../src/chain/finality/finality-state.ts';
import { requireOverrides } from '../../../src/chain/finality/required-overrides.ts';
import { importBlocks } from '../../../src/chain/import/import-blocks.ts';
import { rebuild } from '../../../src/chain/store/rebuild.ts';
import { headerRowAt } from '../../../src/chain/store/stored-blocks.ts';
import { encodeFinalProof } from '../../../src/finality/proofs/final-proof.ts';
import { decodeJustification } from '../../../src/finality/proofs/justification.ts';
import { verifyOffline } from '../../../src/finality/proofs/offline-proof.ts';
import { decidingOn } from '../../../src/finality/votes/voter-set.ts';
import { voterOverrides } from '../../../src/ledger/tables.ts';
import type { VoterOverride } from '../../../src/tx/rules/chain-rules.ts';
import {
  type Account,
  mine,
  miners,
  nextTurn,
  quiet,
  rules,
  scheme,
  type TestChain,
  verifier,
} from '../chain-harness.ts';
import {
  blocksOf,
  blocksOfChain,
  chainOf,
  chainWith,
  fresh,
  justificationOf,
  linkTo,
  mineCarrying,
  WITH_FINALITY,
} from '../finality-harness.ts';
import { createTestForkChoice } from '../fork-harness.ts';
import { makeBlock } from '../make-block.ts';

const NOTHING = new Uint8Array(0);
const HEIGHT = 4;
const [stays] = miners;

const withOverride = (override: VoterOverride) => ({
  ...WITH_FINALITY,
  voterOverrides: [override],
});

/** Without votes up to a height; then one of the three voters is all that is left. */
async function stopped() {
  const at = await chainWith();
  while (at.blockchain.tip().height < HEIGHT) await mine(at);
  const override = { block: blocksOf(at).checkpoint(HEIGHT), voters: [stays!.publicKey] };
  return { at, override, settings: withOverride(override) };
}

/** The one that stays makes a block wherever it is its turn; the others make none. */
async function mineAlone(at: TestChain, carried: Uint8Array = NOTHING): Promise<Block> {
  const { time } = nextTurn(at);
  const slot = at.blockchain.nextSlot(stays!, time);
  at.clock.time = slot!.from + 10;
  return makeBlock(
    at.blockchain,
    { ...stays!, carried: () => carried },
    at.clock.time,
    async () => {},
  );
}

async function goneOn() {
  const { at, override, settings } = await stopped();
  const on = await chainOf(blocksOfChain(at), settings, at.clock.time);
  await mineAlone(on);
  await mineAlone(on, justificationOf(on, 5, [stays!], {}, settings));
  await mineAlone(on, justificationOf(on, 6, [stays!], {}, settings));
  return { before: at, on, override, settings };
}

t.test('the voters that are named decide, and who is gone raises no quorum', async (t) => {
  const { on } = await goneOn();
  const { view } = on.blockchain;
  for (const height of [4, 5, 6, 7]) {
    const { change, current, next } = leavesAt(view, height)!;
    t.strictSame([change, current.keys.length, next], [1, 1, undefined], `height ${height}`);
  }
  t.strictSame(leavesAt(view, 3)!.current.keys.length, 3, 'and below as before');
});

t.test('no offline proof crosses a decision, and one that begins there holds', async (t) => {
  const { on, settings } = await goneOn();
  const { view } = on.blockchain;
  t.throws(() => proofOfBlock(view, settings, 5), /name a height from 4 on as 'from'/);
  const { steps, headers } = proofOfBlock(view, settings, 5, HEIGHT);
  const trusted = {
    genesis: blocksOf(on, settings).checkpoint(1).id,
    height: HEIGHT,
    ruleHash: decidingOn(leavesAt(view, HEIGHT)!, scheme).ruleHash,
  };
  t.match(verifyOffline({ steps, headers: [...headers] }, trusted, scheme), { isProved: true });
});

t.test('who was left out comes back with a block', async (t) => {
  const { on } = await goneOn();
  while (leavesAt(on.blockchain.view, on.blockchain.tip().height)!.next === undefined) {
    await mine(on);
  }
  const { next } = leavesAt(on.blockchain.view, on.blockchain.tip().height)!;
  t.equal(next!.voters.keys.length, 2);
  t.ok(next!.voters.keys.some((key) => equal(key, stays!.publicKey)));
});

t.test('all ways to the chain come to the same state', async (t) => {
  const { on, settings } = await goneOn();
  const { height } = on.blockchain.tip();
  const same = (at: TestChain, how: string) =>
    t.strictSame(at.blockchain.stateHash(height), on.blockchain.stateHash(height), how);
  const blocks = blocksOfChain(on);
  const { time } = on.clock;
  const byOne = await chainOf(blocks, settings, time);
  same(byOne, 'by one');
  const imported = await chainOf([], settings, time);
  await importBlocks(imported.blockchain, verifier, blocks, { from: 2 });
  same(imported, 'imported');
  const branch = await chainOf([], settings, time);
  const choice = createTestForkChoice(branch);
  const checked = await Promise.all(blocks.map((block) => choice.check(fresh(block))));
  t.match(await choice.adopt(checked), { kind: 'adopted' });
  same(branch, 'as a branch');
  await byOne.blockchain.rollback(HEIGHT);
  t.equal(byOne.blockchain.view.get(voterOverrides, HEIGHT), undefined);
  t.equal(leavesAt(byOne.blockchain.view, HEIGHT)!.current.keys.length, 3, 'taken back');
  for (const block of blocks.slice(HEIGHT - 1)) await byOne.blockchain.append(fresh(block));
  same(byOne, 'after a rollback');
});

t.test('without the entry, or with another, what needs it is refused', async (t) => {
  const { on, override } = await goneOn();
  const blocks = blocksOfChain(on);
  const refuses = (settings: typeof WITH_FINALITY) =>
    t.rejects(chainOf(blocks, settings, on.clock.time), /lacks votes|wrong signature|other voters/);
  await refuses(WITH_FINALITY);
  await refuses(withOverride({ ...override, voters: [miners[1]!.publicKey] }));
  await refuses(withOverride({ ...override, voters: miners.map((one) => one.publicKey) }));
});

t.test('with the entry no other block of its height is taken or made', async (t) => {
  const { at, override } = await stopped();
  const id = new Uint8Array(32).fill(7);
  const settings = withOverride({ ...override, block: { height: HEIGHT, id } });
  const blocks = blocksOfChain(at);
  await t.rejects(
    chainOf(blocks, settings, at.clock.time),
    /The configuration names another block of height 4/,
  );
  const low = await chainOf(blocks.slice(0, -1), settings, at.clock.time);
  await t.rejects(mine(low), /The configuration names another block of height 4/);
});

t.test('the head that is named already leaves them to its first child', async (t) => {
  const { at, override } = await stopped();
  const indexed = (overrides: readonly VoterOverride[]) =>
    new FinalityIndex(at.blockchain.view, 1, () => at.blockchain.tip(), overrides).at(
      at.blockchain.tip(),
    )!;
  t.match(indexed([override]), { isOverridden: true, leaves: { change: 1 } });
  t.match(indexed([]), { isOverridden: false, leaves: { change: 0 } });
  const { on } = await goneOn();
  const { view } = on.blockchain;
  const index = new FinalityIndex(view, 1, () => on.blockchain.tip(), [override]);
  t.match(index.add(HEIGHT), { leaves: { change: 1 } }, 'once, and not twice');
});

t.test('a chain that was made otherwise is refused at the start', async (t) => {
  const { before, on, override, settings } = await goneOn();
  const check = ({ blockchain }: TestChain, overrides: readonly VoterOverride[]) =>
    requireOverrides(blockchain.view, overrides, blockchain.tip().height);
  const low = await chainOf(blocksOfChain(before).slice(0, 2), settings, on.clock.time);
  const elsewhere = { ...override, block: { height: HEIGHT, id: new Uint8Array(32) } };
  for (const [chain, overrides] of [
    [on, [override]],
    [before, [override]],
    [before, []],
    [low, [override]],
    [low, [elsewhere]],
  ] as const) {
    t.doesNotThrow(() => check(chain, overrides));
  }
  const made =
    /made with other voters from height 4 on; put the entry back as it was: \{ height = 4, header = "\w+", voters = \["\w+"\] \}/;
  t.throws(() => check(on, []), made);
  t.throws(() => check(on, [{ ...override, voters: [miners[1]!.publicKey] }]), made);
  const { block } = override;
  t.throws(
    () => check(before, [elsewhere]),
    new RegExp(
      `finality.overrides.*block 4 of the chain has the header hash ${base58.encode(block.id)}, and its entry names 1{32}; ` +
        "correct 'header' where it is wrong; .* run 'platform-node chain rollback' with the height 3",
    ),
  );
  await mine(before);
  t.throws(() => check(before, [override]), /without the entry of height 4; run .* height 4/);
});

t.test('a damaged store is rebuilt with the entry alone', async (t) => {
  const { on, override, settings } = await goneOn();
  const { view } = on.blockchain;
  const rows = (table: number) => on.store.range(table, NOTHING, Uint8Array.of(255), 100, false);
  const rebuilt = async (overrides: readonly VoterOverride[]) => {
    const at = await chainOf([], settings, on.clock.time);
    return rebuild(at.blockchain, verifier, rows, quiet, overrides);
  };
  t.equal((await rebuilt([override])).height, 7);
  await t.rejects(rebuilt([]), {
    name: 'StartError',
    message: /finality.overrides.* other voters from height 4 on.*put the entry back/,
  });
  t.ok(view.get(voterOverrides, HEIGHT));
});

t.test('the named block may be final by the voters of the entry, and by no others', async (t) => {
  const { at, override, settings } = await stopped();
  const proofOf = (of: TestChain, voters: readonly Account[], by: typeof WITH_FINALITY) => {
    const { vote: link } = linkTo(of, HEIGHT + 1, by);
    const bytes = justificationOf(of, HEIGHT + 1, voters, {}, by);
    return encodeFinalProof({ link, justification: decodeJustification(bytes, scheme) }, scheme);
  };
  const before = await chainOf(blocksOfChain(at), WITH_FINALITY, at.clock.time);
  const on = await chainOf(blocksOfChain(at), settings, at.clock.time);
  const carried = justificationOf(at, HEIGHT);
  await mineCarrying(before, carried);
  await mineAlone(on, carried);
  const { blockchain, store } = on;
  const { view } = blockchain;
  const save = (bytes: Uint8Array) => store.write([finalProofWrite(bytes)]);
  const check = () => requireOverrides(view, [override], blockchain.tip().height);
  const stored = () =>
    storedFinal(view, new FinalityIndex(view, 1, () => blockchain.tip(), [override]));
  const proven = () => proofOfBlock(view, settings, HEIGHT, HEIGHT);
  const unproven = /not those of the chain: ask again once a block above it is final/;
  const byEntry = proofOf(on, [stays!], settings);
  await save(byEntry);
  t.doesNotThrow(check);
  t.ok(stored()!.proof);
  t.equal(proven().steps.length, 1);
  const byOthers = proofOf(before, miners, WITH_FINALITY);
  await save(byOthers);
  t.doesNotThrow(check, 'the chain has gone on by the entry');
  t.match(stored(), { height: HEIGHT, proof: undefined }, 'no peer is shown it');
  t.throws(proven, unproven);
  await blockchain.rollback(HEIGHT);
  t.throws(check, /block 4 is final by voters that it leaves out; name a block above it/);
  await save(byEntry);
  t.doesNotThrow(check, 'its child was taken back');
  t.ok(stored()!.proof);
  t.throws(proven, unproven, 'the state has the voters of before');
});

t.test('no entry takes back what is final', async (t) => {
  const at = await chainWith();
  await mineCarrying(at, NOTHING);
  for (let height = 3; height <= 5; height++) {
    await mineCarrying(at, justificationOf(at, height - 1));
  }
  const { vote: link } = linkTo(at, 5);
  const justification = decodeJustification(justificationOf(at, 5), scheme);
  await at.store.write([finalProofWrite(encodeFinalProof({ link, justification }, scheme))]);
  const { view } = at.blockchain;
  const named = (height: number, id = blocksOf(at).checkpoint(height).id): VoterOverride[] => [
    { block: { height, id }, voters: [stays!.publicKey] },
  ];
  const stays4 = /block 4 is final here and stays/;
  t.throws(() => requireOverrides(view, named(4, new Uint8Array(32)), 5), stays4);
  t.throws(() => requireOverrides(view, named(3), 5), stays4);
  t.throws(
    () => requireOverrides(view, named(4), 5),
    /block 4 is final by voters that it leaves out; name a block above it/,
  );
});

t.test('where nobody votes an entry has no effect, and is refused', async (t) => {
  const at = await chainWith(rules);
  for (let height = 2; height <= 4; height++) await mine(at);
  const { blockchain } = at;
  const block = { height: 3, id: headerHash(headerRowAt(blockchain.view, 3)!.header, scheme) };
  const check = (height: number) =>
    requireOverrides(blockchain.view, [{ block, voters: [stays!.publicKey] }], height);
  t.doesNotThrow(() => check(2));
  for (const height of [3, 4]) {
    t.throws(() => check(height), /nobody votes on block 3; leave its entry out/);
  }
});
