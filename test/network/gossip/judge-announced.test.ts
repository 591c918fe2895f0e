import t from 'tap';
import { equal } from '../../../src/base/bytes.ts';
import { apiError } from '../../../src/base/errors.ts';
import { type Block, blockId, sealBlock } from '../../../src/block/block.ts';
import type { BranchOutcome } from '../../../src/chain/fork/fork-choice.ts';
import { AnnouncedJudge } from '../../../src/network/gossip/judge-announced.ts';
import { account, scheme } from '../../chain/chain-harness.ts';

type Kind = BranchOutcome['kind'];

const [cheat, other] = [account('cheat'), account('other')];
const TURN_MS = 1000;
let made = 0;

const block = (turn: number, by = cheat): Block =>
  sealBlock(
    {
      version: 3,
      // Each is another block.
      timestamp: turn * TURN_MS + (made++ % TURN_MS),
      reference: new Uint8Array(64),
      consensus: { kind: 'poa', skippedRounds: 0 },
      features: [],
      generator: by.publicKey,
    },
    [],
    scheme,
    by.sign,
  );

/** A judge whose fork choice says this of each block, and how many it was offered. */
function scene(say: (block: Block) => Promise<Kind> | Kind, remembers = true) {
  const invalid = new Set<string>();
  let offered = 0;
  const judge = new AnnouncedJudge({
    consensus: { turnOf: ({ timestamp }) => `${Math.floor(timestamp / TURN_MS)}` },
    forkChoice: {
      invalid: { has: (id) => invalid.has(`${id}`) },
      async offer(block) {
        offered++;
        const kind = await say(block);
        const id = blockId(block);
        if (kind !== 'invalid' && kind !== 'future') return { kind };
        if (kind === 'invalid' && remembers) invalid.add(`${id}`);
        return { kind, id, error: apiError('Invalid', 'no'), isForged: false };
      },
    },
  });
  return { judge, offered: () => offered };
}

t.test('two invalid blocks spend the turn of their generator', async (t) => {
  const { judge, offered } = scene(({ header }) =>
    equal(header.generator, cheat.publicKey) && header.timestamp < 2 * TURN_MS
      ? 'invalid'
      : 'adopted',
  );
  const kinds: string[] = [];
  for (let i = 0; i < 4; i++) kinds.push((await judge.judge(block(1))).kind);
  t.strictSame(kinds, ['invalid', 'invalid', 'unjudged', 'unjudged']);
  t.equal(offered(), 2);
  t.ok(judge.isSpent(block(1).header));
  for (const free of [block(1, other), block(2)]) {
    t.notOk(judge.isSpent(free.header));
    t.equal((await judge.judge(free)).kind, 'adopted', 'another generator, and its next turn');
  }
});

t.test('blocks that come at once are no more', async (t) => {
  const { judge, offered } = scene(async (): Promise<Kind> => {
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    return 'invalid';
  });
  await Promise.all(Array.from({ length: 20 }, () => judge.judge(block(1))));
  t.equal(offered(), 2);
});

t.test('a good block after a bad one', async (t) => {
  const said: Kind[] = ['invalid', 'adopted'];
  const { judge } = scene(() => said.shift()!);
  await judge.judge(block(1));
  t.equal((await judge.judge(block(1))).kind, 'adopted');
});

t.test('what is not the fault of the generator does not count', async (t) => {
  for (const kind of ['future', 'unknown-parent', 'not-better', 'late', 'known'] as const) {
    const { judge, offered } = scene(() => kind);
    for (let i = 0; i < 5; i++) await judge.judge(block(1));
    t.equal(offered(), 5, kind);
  }
  const forged = scene(() => 'invalid', false);
  for (let i = 0; i < 5; i++) await forged.judge.judge(block(1));
  t.equal(forged.offered(), 5, 'invalid, but not remembered');
  const full = scene(() => Promise.reject(new Error('the disk is full')));
  for (let i = 0; i < 5; i++) await t.rejects(full.judge.judge(block(1)), /disk is full/);
  t.equal(full.offered(), 5, 'a failure of this node');
});
