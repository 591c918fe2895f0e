// Keccak-256 against the published vectors and against an independent implementation.
import { keccak_256 } from '@noble/hashes/sha3.js';
import t from 'tap';
import { utf8 } from '../../src/base/bytes.ts';
import { encodeHex } from '../../src/base/hex.ts';
import { createKeccak256, keccak256 } from '../../src/crypto/keccak.ts';
import { seededRandom } from './random.ts';

const RATE = 136;
/** What one call of the assembled code takes in. */
const PIECE = 60 * RATE;

const random = seededRandom('keccak');

const isSame = (message: Uint8Array): boolean =>
  Buffer.compare(keccak256(message), keccak_256(message)) === 0;

t.test('published digests', async (t) => {
  const digests = {
    '': 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    abc: '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45',
    'The quick brown fox jumps over the lazy dog':
      '4d741b6f1eb29cb2a9b9911c82f56fa8d73b04959d3d9d222895df6c0b28aa15',
  };
  for (const [text, digest] of Object.entries(digests)) {
    t.equal(encodeHex(keccak256(utf8(text))), digest);
  }
});

t.test('every length up to five blocks, and those around whole pieces', async (t) => {
  for (let length = 0; length <= 5 * RATE + 1; length++) {
    if (!isSame(random.bytes(length))) t.fail(`length ${length}`);
  }
  for (const pieces of [1, 2, 8]) {
    for (const more of [-RATE - 1, -RATE, -1, 0, 1, RATE - 1, RATE]) {
      const length = pieces * PIECE + more;
      t.ok(isSame(random.bytes(length)), `length ${length}`);
    }
  }
});

t.test('long messages, and messages of one byte value', async (t) => {
  for (let i = 0; i < 30; i++) {
    const [low, middle, high] = random.bytes(3) as unknown as [number, number, number];
    const length = (low + 256 * middle + 65_536 * high) % 300_000;
    t.ok(isSame(random.bytes(length)), `length ${length}`);
  }
  for (const value of [0x00, 0x01, 0x80, 0xff]) {
    for (const length of [RATE - 1, RATE, 65_536]) {
      t.ok(isSame(new Uint8Array(length).fill(value)), `${length} bytes ${value}`);
    }
  }
});

t.test('a part of a buffer, which stays as it is', async (t) => {
  const whole = Buffer.from(random.bytes(3 * PIECE));
  const before = Buffer.from(whole);
  const part = whole.subarray(5, 2 * PIECE + 70);
  t.ok(isSame(part));
  t.strictSame(whole, before);
});

t.test('a digest has 32 bytes of its own', async (t) => {
  const first = keccak256(utf8('first'));
  t.equal(first.buffer.byteLength, 32);
  const kept = first.slice();
  keccak256(utf8('second'));
  t.strictSame(first, kept);
  first.fill(0);
  t.strictSame(keccak256(utf8('first')), kept);
});

t.test('instances do not disturb one another', async (t) => {
  const instances = Array.from({ length: 20 }, createKeccak256);
  for (const length of [32, PIECE - 1, 70_000]) {
    const messages = instances.map(() => random.bytes(length));
    const digests = instances.map((hash, i) => hash(messages[i]!));
    t.strictSame(
      digests,
      messages.map((message) => keccak_256(message)),
    );
  }
});
