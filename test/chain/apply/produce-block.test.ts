// What a miner seals, and when: nothing in a turn that it has used, and nothing after its round.

import t from 'tap';
import type { Block } from '../../../src/block/block.ts';
import { GENESIS_TIME, LENGTH_MS, newChain, nextTurn } from '../chain-harness.ts';
import { makeBlock } from '../make-block.ts';

/**
 * Makes a block in the first round; packing it ends `packedAt` ms after the beginning of the round, and its signature
 * comes `signingMs` later.
 */
async function sealed(packedAt: number, { isUsed = false, signingMs = 0 } = {}) {
  const at = await newChain();
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const signed: number[] = [];
  const claimed: string[] = [];
  const maker = {
    ...miner,
    sign: (message: Uint8Array) => {
      signed.push(message.length);
      at.clock.time += signingMs;
      return miner.sign(message);
    },
    turns: {
      has: () => isUsed,
      claim: async (turn: string) => void claimed.push(turn),
    },
  };
  const made = makeBlock(at.blockchain, maker, time, async () => {
    at.clock.time = GENESIS_TIME + LENGTH_MS + packedAt;
  });
  const outcome: Block | Error = await made.catch((error: Error) => error);
  return { outcome, signed, claimed, height: at.blockchain.tip().height };
}

t.test('up to the last moment of its round', async (t) => {
  const { outcome, claimed, height } = await sealed(LENGTH_MS - 1);
  t.notOk(outcome instanceof Error);
  t.strictSame(claimed, ['round 1']);
  t.equal(height, 2);
});

t.test('not after its round, however late its transactions were packed', async (t) => {
  const { outcome, signed, claimed, height } = await sealed(LENGTH_MS);
  t.match(outcome, { message: /has ended before its block was sealed: round 1/ });
  t.strictSame(signed, [], 'nothing was signed');
  t.strictSame(claimed, []);
  t.equal(height, 1);
});

t.test('not after its round, however late it was signed', async (t) => {
  const { outcome, signed, claimed, height } = await sealed(LENGTH_MS - 1, { signingMs: 1 });
  t.match(outcome, { message: /has ended before its block was sealed: round 1/ });
  t.equal(signed.length, 1);
  t.strictSame(claimed, [], 'a turn of which nobody gets a block is not used');
  t.equal(height, 1);
});

t.test('not in a turn that has a block', async (t) => {
  const { outcome, signed, height } = await sealed(100, { isUsed: true });
  t.match(outcome, { message: /has used its turn: round 1/ });
  t.strictSame(signed, []);
  t.equal(height, 1);
});
