// Votes and justifications as bytes (finality.md): vectors of independent code, round trips, bounds.
import fc from 'fast-check';
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { decodeHex, encodeHex } from '../../src/base/hex.ts';
import { JUSTIFICATION_BYTES_MAX } from '../../src/block/header.ts';
import { CodecError } from '../../src/codec/codec.ts';
import {
  decodeJustification,
  encodeJustification,
  justificationChecks,
} from '../../src/finality/proofs/justification.ts';
import {
  decodeVote,
  encodeVote,
  ruleHash,
  signedVoteBytes,
  VOTE_BYTES,
  VOTERS_MAX,
  voteBytes,
  voteCheck,
} from '../../src/finality/votes/vote.ts';
import { scheme, setsOf, vectors, voteOf } from './vectors.ts';

const isGood = (check: ReturnType<typeof voteCheck>): boolean =>
  scheme.verify(check.publicKey, check.message, check.signature);

t.test('rule hashes', async (t) => {
  for (const [i, expected] of vectors.rules.entries()) {
    t.equal(encodeHex(ruleHash(setsOf(i), scheme)), expected.ruleHash);
  }
});

t.test('votes of independent code', async (t) => {
  for (const [i, { bytesHex, signed }] of vectors.votes.entries()) {
    t.equal(encodeHex(voteBytes(voteOf(i), scheme)), bytesHex);
    for (const { address, signature, signedHex } of signed) {
      const vote = decodeVote(decodeHex(signedHex), scheme);
      t.strictSame(vote, { ...voteOf(i), voter: vote.voter, signature: decodeHex(signature) });
      t.equal(scheme.addressToText(scheme.addressOf(vote.voter)), address);
      t.ok(isGood(voteCheck(vote, scheme)));
      t.equal(encodeHex(encodeVote(vote, scheme)), signedHex);
      t.notOk(isGood(voteCheck({ ...vote, ruleHash: vote.ruleHash.slice().fill(0) }, scheme)));
    }
  }
});

t.test('justifications of independent code', async (t) => {
  const keys = new Map(vectors.voters.map((one) => [one.address, base58.decode(one.publicKey)]));
  for (const { vote, voters, voted, bytesHex } of vectors.justifications) {
    const justification = decodeJustification(decodeHex(bytesHex), scheme);
    t.strictSame(justification.target, voteOf(vote).target);
    t.strictSame(
      voters.filter((_, i) => justification.votes[i] !== undefined),
      voted,
    );
    const ordered = voters.map((address) => keys.get(address)!);
    const checks = justificationChecks(justification, voteOf(vote), ordered, scheme);
    t.equal(checks.length, voted.length);
    t.ok(checks.every(isGood));
    t.equal(encodeHex(encodeJustification(justification, scheme)), bytesHex);
  }
});

t.test('what is refused', async (t) => {
  for (const { why, bytesHex } of vectors.refusedVotes) {
    t.throws(() => decodeVote(decodeHex(bytesHex), scheme), CodecError, why);
  }
  for (const { why, bytesHex } of vectors.refusedJustifications) {
    t.throws(() => decodeJustification(decodeHex(bytesHex), scheme), CodecError, why);
  }
});

const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
/** Like the objects of the decoders. */
const plain = { noNullPrototype: true };
const height = fc.integer({ min: 1, max: 0xffff_ffff });
const checkpoint = fc.record({ height, id: bytesOf(32) }, plain);

t.test('votes and justifications survive a round trip', async (t) => {
  const vote = fc
    .record(
      {
        genesis: bytesOf(32),
        ruleHash: bytesOf(32),
        source: checkpoint,
        target: checkpoint,
        voter: bytesOf(32),
        signature: bytesOf(64),
      },
      plain,
    )
    .filter(({ source, target }) => source.height < target.height);
  fc.assert(
    fc.property(vote, (value) => {
      t.strictSame(decodeVote(encodeVote(value, scheme), scheme), value);
    }),
    { numRuns: 50 },
  );
  const justification = fc.record(
    {
      target: checkpoint,
      votes: fc.array(fc.option(bytesOf(64), { nil: undefined }), { minLength: 1, maxLength: 40 }),
    },
    plain,
  );
  fc.assert(
    fc.property(justification, (value) => {
      t.strictSame(decodeJustification(encodeJustification(value, scheme), scheme), value);
    }),
    { numRuns: 50 },
  );
});

t.test('the largest', async (t) => {
  const full = new Uint8Array(64).fill(255);
  const target = { height: 0xffff_ffff, id: full.subarray(0, 32) };
  const votes = Array.from({ length: 2 * VOTERS_MAX }, () => full);
  const bytes = encodeJustification({ target, votes }, scheme);
  t.equal(bytes.length, JUSTIFICATION_BYTES_MAX);
  t.strictSame(decodeJustification(bytes, scheme), { target, votes });
  t.equal(VOTE_BYTES, vectors.votes[0]!.bytesHex.length / 2);
  t.equal(signedVoteBytes(scheme), vectors.votes[0]!.signed[0]!.signedHex.length / 2);
});

t.test('more voters than two sets have', async (t) => {
  const target = { height: 2, id: new Uint8Array(32) };
  const votes = Array.from({ length: 2 * VOTERS_MAX + 8 }, () => undefined);
  const bytes = encodeJustification({ target, votes }, scheme);
  t.throws(() => decodeJustification(bytes, scheme), { message: /2008 voters/ });
});

t.test('no bytes make a decoder throw anything else', async (t) => {
  const samples = [
    [decodeVote, decodeHex(vectors.votes[0]!.signed[0]!.signedHex)],
    [decodeJustification, decodeHex(vectors.justifications[0]!.bytesHex)],
  ] as const;
  for (const [decode, sample] of samples) {
    fc.assert(
      fc.property(
        fc.nat(sample.length),
        fc.array(fc.tuple(fc.nat(sample.length - 1), fc.nat(255))),
        (length, changes) => {
          const bytes = sample.slice(0, length);
          for (const [at, to] of changes) if (at < length) bytes[at] = to;
          try {
            decode(bytes, scheme);
          } catch (error) {
            if (!(error instanceof CodecError)) throw error;
          }
        },
      ),
      { numRuns: 500 },
    );
  }
  t.pass();
});
