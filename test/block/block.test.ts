// Bytes of blocks: layouts, canonical form, limits.
import fc from 'fast-check';
import t from 'tap';
import {
  blockBytesMax,
  blockId,
  checkLimits,
  decodeBlock,
  encodeBlock,
  encodeUnsigned,
  limitsOf,
  signedBytes,
} from '../../src/block/block.ts';
import { decodeHeader, encodeHeader } from '../../src/block/header.ts';
import { decodeHeaderRow, encodeHeaderRow } from '../../src/block/header-row.ts';
import { CodecError } from '../../src/codec/codec.ts';
import { block, filled, header, scheme, seal } from './sample.ts';

const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, v) => (typeof v === 'bigint' ? `${v}` : v)));

const decodes = (bytes: Uint8Array): boolean => {
  try {
    decodeBlock(bytes, scheme);
    return true;
  } catch (error) {
    if (error instanceof CodecError) return false;
    throw error;
  }
};

t.test('every block survives a round trip', async () => {
  fc.assert(
    fc.property(block, ({ header, transactions, bytes }) => {
      const found = decodeBlock(bytes, scheme);
      t.strictSame(plain(found.header), plain(header));
      t.equal(found.transactions.length, transactions.length);
      t.ok(Buffer.from(encodeBlock(found.header, found.transactions, scheme)).equals(bytes));
      const unsigned = encodeUnsigned(found.header, found.transactions, scheme);
      t.ok(Buffer.from(signedBytes(found, scheme)).equals(unsigned));
      const alone = encodeHeader(header, scheme);
      t.strictSame(plain(decodeHeader(alone, scheme)), plain(header));
    }),
    { numRuns: 100 },
  );
});

t.test('every truncation and every trailing byte is refused', async (t) => {
  fc.assert(
    fc.property(block, ({ bytes, header }) => {
      for (let end = 0; end < bytes.length; end++) {
        if (decodes(bytes.subarray(0, end))) t.fail(`decoded ${end} of ${bytes.length} bytes`);
      }
      if (decodes(Buffer.concat([bytes, filled(1, 0)]))) t.fail('decoded a trailing byte');
      const alone = encodeHeader(header, scheme);
      for (let end = 0; end < alone.length; end++) {
        t.throws(() => decodeHeader(alone.subarray(0, end), scheme), CodecError);
      }
    }),
    { numRuns: 10 },
  );
});

t.test('changed bytes are refused or mean exactly what they say', async (t) => {
  const change = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
  fc.assert(
    fc.property(block, fc.array(change, { minLength: 1, maxLength: 4 }), ({ bytes }, changes) => {
      const changed = bytes.slice();
      for (const [at, value] of changes) changed[at % changed.length] = value;
      if (!decodes(changed)) return;
      const found = decodeBlock(changed, scheme);
      const again = encodeBlock(found.header, found.transactions, scheme);
      if (!Buffer.from(again).equals(changed)) t.fail('two encodings of one block');
    }),
    { numRuns: 1000 },
  );
});

t.test('noise throws nothing but CodecError', async () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void decodes(bytes)));
});

t.test('the layout is that of blocks.md#block-bytes', async (t) => {
  const { bytes } = seal({ features: [3, 100], consensus: { kind: 'poa', skippedRounds: 5 } }, [
    Uint8Array.of(1, 2, 3),
  ]);
  t.equal(
    Buffer.from(bytes).toString('hex'),
    [
      '03', // version
      (1573472578702).toString(16).padStart(16, '0'),
      'ff'.repeat(64), // reference
      '00000009',
      '02',
      '0000000000000005', // PoA: nine bytes
      '0000000b',
      '00000001',
      '00000003',
      '010203', // one transaction in eleven bytes
      '00000002',
      '0003',
      '0064', // two votes
      '07'.repeat(32), // generator
      '09'.repeat(64), // signature
    ].join(''),
  );
  const genesis = seal(
    {
      version: 1,
      consensus: { kind: 'pos', baseTarget: 153722867n, generationSignature: filled(32, 0) },
    },
    [Uint8Array.of(1)],
  );
  t.equal(
    Buffer.from(genesis.bytes.subarray(73)).toString('hex'),
    `0000002901${153722867n.toString(16).padStart(16, '0')}${'00'.repeat(32)}` +
      `00000006010000000101${'07'.repeat(32)}${'09'.repeat(64)}`,
  );
  const large = seal({ version: 4, senderRoleEnabled: true }, []);
  t.equal(
    Buffer.from(large.bytes.subarray(86)).toString('hex'),
    `0000000400000000000000000101${'07'.repeat(32)}${'09'.repeat(64)}`,
  );
  t.strictSame(blockId(large), filled(64, 9), 'the id is the signature');
});

t.test('scenario 26: trailing byte, unsorted, duplicate and too many feature votes', async (t) => {
  t.notOk(decodes(Buffer.concat([seal({ features: [1, 2] }).bytes, filled(1, 0)])));
  const votes = (features: number[]) => seal({ features });
  t.throws(() => votes([2, 1]), CodecError, 'unsorted');
  t.throws(() => votes([2, 2]), CodecError, 'duplicate');
  t.throws(() => votes([0x8000]), CodecError, 'beyond a signed i2');
  const ids = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
  t.throws(() => votes(ids(65)), CodecError);
  t.equal(votes(ids(64)).header.features.length, 64);
});

t.test('other canonical faults', async (t) => {
  const { bytes } = seal({}, [Uint8Array.of(1)]);
  const patched = (at: number, ...values: number[]) => {
    const copy = bytes.slice();
    copy.set(values, at);
    return copy;
  };
  const cases: [string, Uint8Array][] = [
    ['version 0', patched(0, 0)],
    ['version 2', patched(0, 2)],
    ['version 5', patched(0, 5)],
    ['negative timestamp', patched(1, 0xff)],
    ['consensus length', patched(73, 0, 0, 0, 8)],
    ['consensus type', patched(77, 3)],
    ['negative skipped rounds', patched(78, 0x80)],
    ['transactions length', patched(86, 0, 0, 0, 8)],
    ['negative transactions length', patched(86, 0xff)],
    ['negative count', patched(90, 0xff)],
    ['more transactions than bytes', patched(90, 0, 0, 0xff, 0xff)],
    ['more transactions than an index holds', patched(90, 0, 1, 0, 0)],
    ['empty transaction', patched(94, 0, 0, 0, 0)],
    ['negative transaction length', patched(94, 0xff, 0xff, 0xff, 0xff)],
    ['negative vote count', patched(99, 0xff, 0xff, 0xff, 0xff)],
  ];
  for (const [name, changed] of cases) t.notOk(decodes(changed), name);
  const pos = seal({
    consensus: { kind: 'pos', baseTarget: 1n, generationSignature: filled(32, 1) },
  }).bytes.slice();
  pos[85] = 0;
  t.notOk(decodes(pos), 'base target 0');
  const small = seal(
    { version: 1 },
    Array.from({ length: 127 }, () => filled(1, 1)),
  );
  small.bytes[90] = 128;
  t.notOk(decodes(small.bytes), '128 transactions in version 1');
  const large = seal({ version: 4, senderRoleEnabled: false }).bytes.slice();
  large[99] = 2;
  t.notOk(decodes(large), 'flag that is no boolean');
  large[98] = 2;
  t.notOk(decodes(large), 'presence that is no boolean');
});

t.test('scenario 24: bytes of all transactions at the limit and one above', async (t) => {
  const limits = limitsOf(1000, (feature) => feature === 3);
  checkLimits(seal({}, [filled(600, 1), filled(400, 1)]), limits);
  t.throws(() => checkLimits(seal({}, [filled(600, 1), filled(401, 1)]), limits), {
    message: 'Limit of txs was reached: 1001 > 1000 bytes',
  });
});

t.test('a block is bounded by its count until feature 3 is active', async (t) => {
  const many = (count: number) =>
    seal(
      {},
      Array.from({ length: count }, () => filled(1, 1)),
    );
  const none = limitsOf(1e6, () => false);
  checkLimits(many(127), none);
  t.throws(() => checkLimits(many(128), none), { message: 'Limit of txs was reached: 128 > 127' });
  const second = limitsOf(1e6, (feature) => feature === 2);
  checkLimits(many(6000), second);
  t.throws(() => checkLimits(many(6001), second));
  checkLimits(
    many(6001),
    limitsOf(1e6, () => true),
  );
});

t.test('only version 3 follows genesis', async (t) => {
  const limits = limitsOf(1000, () => true);
  for (const version of [1, 4] as const) {
    t.throws(() => checkLimits(seal({ version }), limits), {
      message: 'Expected block version 3 for any block, except Genesis',
    });
  }
});

t.test('7,000 transactions are split into views', async (t) => {
  const { bytes, transactions } = seal(
    {},
    Array.from({ length: 7000 }, () => filled(149, 3)),
  );
  t.equal(transactions.length, 7000);
  t.ok(transactions.every((view) => view.buffer === bytes.buffer && view.length === 149));
  t.ok(bytes.length <= blockBytesMax(7000 * 149), 'within the cap on a block of full size');
});

t.test('a header row keeps its totals', async (t) => {
  const { header: sealed } = seal({});
  for (const score of [0n, 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 100n + 5n]) {
    const row = { header: sealed, blockSize: 300, transactionCount: 2, fee: 5_000_000n, score };
    const bytes = encodeHeaderRow(row, scheme);
    t.strictSame(plain(decodeHeaderRow(bytes, scheme)), plain(row));
    t.throws(() => decodeHeaderRow(bytes.subarray(1), scheme), CodecError);
  }
  t.equal(header().version, 3);
});
