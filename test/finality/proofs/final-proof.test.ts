// The bytes of the proof of a final block (finality.md#proofs): a round trip, and all that the decoder refuses.
import fc from 'fast-check';
import t from 'tap';
import { CodecError } from '../../../src/codec/codec.ts';
import { voteFor } from '../../../src/finality/carried.ts';
import {
  decodeFinalProof,
  encodeFinalProof,
  type FinalProof,
} from '../../../src/finality/proofs/final-proof.ts';
import { VOTE_BYTES } from '../../../src/finality/votes/vote.ts';
import { decidingOn } from '../../../src/finality/votes/voter-set.ts';
import { setOf } from '../network/toy-chain.ts';
import { ToyEngine, voteOf } from '../toy-engine.ts';
import { scheme } from '../vectors.ts';

const toy = new ToyEngine(setOf(1, 2, 3, 4));
const block = toy.tracked(toy.block(toy.root));
const deciding = decidingOn(block.deciding, scheme);
const link = voteFor(block, deciding, toy.root.id);
const { target } = link;
const signature = voteOf(1, block, toy.root).signature;
const proof: FinalProof = {
  link,
  justification: { target, votes: [undefined, signature, signature, signature] },
};
const bytes = encodeFinalProof(proof, scheme);
const refusal = (changed: FinalProof) => () =>
  decodeFinalProof(encodeFinalProof(changed, scheme), scheme);

t.test('a round trip', async (t) => {
  const { link: read, justification } = decodeFinalProof(bytes, scheme);
  t.strictSame({ ...read }, link);
  t.strictSame({ ...justification }, proof.justification);
  t.strictSame(encodeFinalProof({ link: read, justification }, scheme), bytes);
});

t.test('the votes are for the target of the link', async (t) => {
  const { votes } = proof.justification;
  const ofOther = (changed: object) => ({
    link,
    justification: { target: { ...target, ...changed }, votes },
  });
  const why = /for another block/;
  t.throws(refusal(ofOther({ height: target.height + 1 })), why);
  t.throws(refusal(ofOther({ id: new Uint8Array(32) })), why);
});

t.test('the link is to the next block', async (t) => {
  const far = { ...target, height: 3 };
  const { votes } = proof.justification;
  const changed = { link: { ...link, target: far }, justification: { target: far, votes } };
  t.throws(refusal(changed), /not to the next block/);
  const same = { ...link, source: { ...link.source, height: target.height } };
  t.throws(refusal({ ...proof, link: same }), /the target is not above the source/);
  const none = { ...link, source: { ...link.source, height: 0 } };
  t.throws(refusal({ ...proof, link: none }), /heights begin at 1/);
});

t.test('every other length', async (t) => {
  for (let length = 0; length < bytes.length; length++) {
    t.throws(() => decodeFinalProof(bytes.subarray(0, length), scheme), CodecError, `${length}`);
  }
  const longer = new Uint8Array(bytes.length + 1);
  longer.set(bytes);
  t.throws(() => decodeFinalProof(longer, scheme), CodecError);
});

t.test('no bytes make it throw anything else, and what it takes has one encoding', async (t) => {
  let taken = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 3 }),
      (changes) => {
        const damaged = bytes.slice();
        for (const [at, to] of changes) damaged[at] = to;
        try {
          const again = encodeFinalProof(decodeFinalProof(damaged, scheme), scheme);
          taken += 1;
          return Buffer.compare(again, damaged) === 0;
        } catch (error) {
          if (!(error instanceof CodecError)) throw error;
          return true;
        }
      },
    ),
    { numRuns: 1000 },
  );
  t.ok(taken > 0);
  const prefix = bytes.slice();
  prefix[0] = 254;
  t.throws(() => decodeFinalProof(prefix, scheme), /no vote/);
  const count = bytes.slice();
  count[VOTE_BYTES + 36 + 1] = 0;
  t.throws(() => decodeFinalProof(count, scheme), /0 voters/);
});
