// Blocks of version 100 as bytes (finality.md#blocks): vectors of independent code, and what binds what.
import t from 'tap';
import { decodeHex, encodeHex } from '../../src/base/hex.ts';
import {
  blockBytesMax,
  decodeBlock,
  encodeBlock,
  hasOwnBody,
  sealBlock,
  signedBytes,
} from '../../src/block/block.ts';
import {
  boundBytes,
  decodeHeader,
  decodeLink,
  encodeHeader,
  encodeLink,
  headerHash,
  JUSTIFICATION_BYTES_MAX,
} from '../../src/block/header.ts';
import { CodecError } from '../../src/codec/codec.ts';
import { scheme, vectors } from '../finality/vectors.ts';

const hexes = (all: readonly Uint8Array[]): readonly string[] => all.map(encodeHex);

t.test('blocks of independent code', async (t) => {
  const parent = decodeHeader(decodeHex(vectors.parentHeaderHex), scheme);
  for (const one of vectors.blocks) {
    const bytes = decodeHex(one.bytesHex);
    const block = decodeBlock(bytes, scheme);
    const { header, transactions } = block;
    t.equal(header.version, 100);
    t.strictSame(header.features, one.features);
    t.strictSame(hexes(transactions), one.transactions);
    t.equal(encodeHex(header.bound!.justification), one.justification);
    t.equal(encodeHex(headerHash(parent, scheme)), one.parentHash);
    t.equal(encodeHex(header.bound!.parentHash), one.parentHash);
    t.equal(encodeHex(header.bound!.bodyHash), one.bodyHash);
    t.equal(encodeHex(signedBytes(block, scheme)), one.signedHex);
    t.ok(scheme.verify(header.generator, signedBytes(block, scheme), header.signature));
    t.ok(hasOwnBody(block, scheme));
    t.equal(encodeHex(encodeHeader(header, scheme)), one.headerHex);
    t.equal(encodeHex(headerHash(header, scheme)), one.headerHash);
    t.equal(encodeHex(encodeBlock(header, transactions, scheme)), one.bytesHex);
    const again = decodeHeader(decodeHex(one.headerHex), scheme);
    t.equal(encodeHex(encodeHeader(again, scheme)), one.headerHex);
    const link = encodeLink(header, scheme);
    t.equal(encodeHex(link), `${one.signedHex}${one.signature}`);
    t.equal(encodeHex(encodeLink(decodeLink(link, scheme), scheme)), encodeHex(link));
    const sealed = sealBlock(header, transactions, scheme, (message) => {
      t.equal(encodeHex(message), one.signedHex);
      return header.signature;
    });
    t.equal(encodeHex(sealed.bytes), one.bytesHex);
  }
});

t.test('a header of an older version is its own link', async (t) => {
  const bytes = decodeHex(vectors.parentHeaderHex);
  t.equal(encodeHex(encodeLink(decodeHeader(bytes, scheme), scheme)), vectors.parentHeaderHex);
  t.equal(encodeHex(encodeLink(decodeLink(bytes, scheme), scheme)), vectors.parentHeaderHex);
});

t.test('each byte of a block is bound by its signature or by the hash of its body', async (t) => {
  const bytes = decodeHex(vectors.blocks[1]!.bytesHex);
  const { signature } = decodeBlock(bytes, scheme).header;
  for (let at = 0; at < bytes.length - signature.length; at++) {
    const changed = bytes.slice();
    changed[at] = changed[at]! ^ 1;
    let isTaken = false;
    try {
      const block = decodeBlock(changed, scheme);
      const isSigned = scheme.verify(block.header.generator, signedBytes(block, scheme), signature);
      isTaken = isSigned && hasOwnBody(block, scheme);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
    }
    if (isTaken) t.fail(`byte ${at} is not bound`);
  }
});

t.test('what decodes has one encoding; every other length is refused', async (t) => {
  const { bytesHex, headerHex } = vectors.blocks[1]!;
  const [bytes, header] = [decodeHex(bytesHex), decodeHex(headerHex)];
  for (let end = 0; end < bytes.length; end++) {
    t.throws(() => decodeBlock(bytes.subarray(0, end), scheme), CodecError);
  }
  for (let end = 0; end < header.length; end++) {
    t.throws(() => decodeHeader(header.subarray(0, end), scheme), CodecError);
  }
  const { length } = decodeHex(vectors.blocks[1]!.justification);
  const lengthAt = header.length - 64 - 32 - 32 - 32 - 8 - length - 4;
  for (const [first, second] of [
    [0xff, 0xff],
    [0x00, 0x02],
  ] as const) {
    const changed = header.slice();
    changed.set([first, second], lengthAt);
    t.throws(() => decodeHeader(changed, scheme), CodecError, 'a length beyond the longest');
  }
});

t.test('the longest justification is within the cap on blocks', async (t) => {
  const { header } = decodeBlock(decodeHex(vectors.blocks[0]!.bytesHex), scheme);
  const justification = new Uint8Array(JUSTIFICATION_BYTES_MAX);
  const votes = Array.from({ length: 64 }, (_, i) => i);
  const longest = { ...header, features: votes, bound: { ...header.bound!, justification } };
  const { bytes } = sealBlock(longest, [], scheme, () => header.signature);
  t.ok(bytes.length <= blockBytesMax(0), `${bytes.length} bytes`);
  t.equal(boundBytes(longest, scheme).length, boundBytes(header, scheme).length + 2 * 64);
  const tooLong = { ...longest.bound, justification: new Uint8Array(JUSTIFICATION_BYTES_MAX + 1) };
  t.throws(
    () => decodeHeader(encodeHeader({ ...longest, bound: tooLong }, scheme), scheme),
    CodecError,
  );
});
