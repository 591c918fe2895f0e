// The turn claims of a block as bytes (consensus.md#turn-claims).
import t from 'tap';
import { blockBytesMax, decodeBlock, encodeUnsigned, sealBlock } from '../../src/block/block.ts';
import { decodeHeader, encodeHeader, type Header } from '../../src/block/header.ts';
import {
  claimChecks,
  LOST_TURNS_MAX,
  type LostTurn,
  lostTurnOf,
  type TurnClaims,
  turnBytes,
} from '../../src/block/turn-claims.ts';
import { CodecError } from '../../src/codec/codec.ts';
import { scheme as realScheme } from '../chain/chain-harness.ts';
import { filled, header, scheme } from './sample.ts';

const lost = (at: number): LostTurn => ({
  timestamp: at,
  reference: filled(64, 1),
  generator: filled(32, 2),
  signature: filled(64, 3),
});

const claims = (count: number): TurnClaims => ({
  own: filled(64, 9),
  lost: Array.from({ length: count }, (_, i) => lost(1_000 + i)),
});

const withClaims = (given: TurnClaims): Header => ({
  ...header({ consensus: { kind: 'poa', skippedRounds: 7, claims: given } }),
  signature: filled(64, 5),
});

t.test(
  'they stand behind the skipped rounds, and a header without them stays as it was',
  async (t) => {
    const plain = encodeHeader(
      { ...withClaims(claims(0)), consensus: { kind: 'poa', skippedRounds: 7 } },
      scheme,
    );
    const own = encodeHeader(withClaims(claims(0)), scheme);
    const two = encodeHeader(withClaims(claims(2)), scheme);
    // version 1, timestamp 8, reference 64, then the length of the consensus data
    const lengthAt = 73;
    t.equal(Buffer.from(plain).readInt32BE(lengthAt), 9);
    t.equal(Buffer.from(own).readInt32BE(lengthAt), 9 + 64 + 1);
    t.equal(Buffer.from(two).readInt32BE(lengthAt), 9 + 64 + 1 + 2 * (8 + 64 + 32 + 64));
    const end = lengthAt + 4 + 9;
    t.same(own.subarray(end, end + 65), [...filled(64, 9), 0]);
    const rest = Buffer.concat([plain.subarray(0, lengthAt), plain.subarray(lengthAt + 4)]);
    const cut = Buffer.concat([
      own.subarray(0, lengthAt),
      own.subarray(lengthAt + 4, end),
      own.subarray(end + 65),
    ]);
    t.same(cut, rest, 'nothing else differs');
    for (const count of [0, 1, LOST_TURNS_MAX]) {
      const given = withClaims(claims(count));
      t.strictSame(decodeHeader(encodeHeader(given, scheme), scheme), given);
    }
  },
);

t.test('every other length and every other count is refused', async (t) => {
  const bytes = encodeHeader(withClaims(claims(2)), scheme);
  const lengthAt = 73;
  const countAt = lengthAt + 4 + 9 + 64;
  const changed = (change: (copy: Buffer) => void): Uint8Array => {
    const copy = Buffer.from(bytes);
    change(copy);
    return copy;
  };
  for (const count of [0, 1, 3, LOST_TURNS_MAX + 1, 255]) {
    t.throws(
      () =>
        decodeHeader(
          changed((copy) => copy.writeUInt8(count, countAt)),
          scheme,
        ),
      CodecError,
    );
  }
  for (const length of [-1, 0, 8, 10, 73, 75, 242, 2 ** 31 - 1]) {
    t.throws(
      () =>
        decodeHeader(
          changed((copy) => copy.writeInt32BE(length, lengthAt)),
          scheme,
        ),
      CodecError,
    );
  }
  t.throws(() =>
    decodeHeader(encodeHeader(withClaims(claims(LOST_TURNS_MAX + 1)), scheme), scheme),
  );
});

t.test('a turn is signed for a time, a parent and a generator, as nothing else is', async (t) => {
  const bytes = turnBytes(lost(258), scheme);
  t.same(bytes, [
    255,
    ...Buffer.from('turn'),
    ...[0, 0, 0, 0, 0, 0, 1, 2],
    ...filled(64, 1),
    ...filled(32, 2),
  ]);
  const block = header({ generator: filled(32, 7) });
  t.not(encodeUnsigned(block, [], scheme)[0], 255, 'no block begins so');
  const given = withClaims(claims(2));
  t.strictSame(lostTurnOf(given), {
    timestamp: given.timestamp,
    reference: given.reference,
    generator: given.generator,
    signature: filled(64, 9),
  });
  t.equal(lostTurnOf(block), undefined);
  t.equal(claimChecks(given, scheme).length, 3);
  t.strictSame(claimChecks(block, scheme), []);
});

t.test('the longest header fits the cap on a block, in this family', async (t) => {
  const key = realScheme.publicKeySize;
  const full: TurnClaims = {
    own: filled(64, 9),
    lost: Array.from({ length: LOST_TURNS_MAX }, (_, i) => ({
      ...lost(i),
      generator: filled(key, 1),
    })),
  };
  const features = Array.from({ length: 64 }, (_, i) => i + 1);
  const sealed = sealBlock(
    header({
      consensus: { kind: 'poa', skippedRounds: 1, claims: full },
      features,
      generator: filled(key, 1),
    }),
    [],
    realScheme,
    () => filled(64, 1),
  );
  t.ok(sealed.bytes.length <= blockBytesMax(0), `${sealed.bytes.length} bytes`);
  t.strictSame(decodeBlock(sealed.bytes, realScheme).header, sealed.header);
});
