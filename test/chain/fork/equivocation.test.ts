/** The memory of equivocations; who is to be blamed for them is in test/network/equivocation.test.ts. */
import t from 'tap';
import { decodeBlock, sealBlock } from '../../../src/block/block.ts';
import type { Header } from '../../../src/block/header.ts';
import { createEquivocations } from '../../../src/chain/fork/equivocation.ts';
import { filled, header, scheme } from '../../block/sample.ts';
import { quiet } from '../chain-harness.ts';

const turn = (timestamp: number) => ({
  timestamp,
  reference: filled(64, 1),
  generator: filled(32, 2),
  signature: filled(64, 3),
});

/** As it comes out of a block of a mebibyte, after a skipped round. */
function received(signature: number): Header {
  const claims = { own: filled(64, 9), lost: [turn(1), turn(2)] };
  const sealed = sealBlock(
    header({ consensus: { kind: 'poa', skippedRounds: 7, claims } }),
    Array.from({ length: 20 }, () => filled(50_000, 1)),
    scheme,
    () => filled(64, signature),
  );
  return decodeBlock(sealed.bytes, scheme).header;
}

/** All bytes that a value keeps in memory. */
function kept(value: unknown, buffers = new Set<ArrayBufferLike>()): Set<ArrayBufferLike> {
  if (value instanceof Uint8Array) buffers.add(value.buffer);
  else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) kept(part, buffers);
  }
  return buffers;
}

t.test('two headers of one turn are evidence, and keep no block in memory', async (t) => {
  const equivocations = createEquivocations(
    { turnOf: ({ timestamp }) => `round ${timestamp}` },
    scheme,
    quiet,
  );
  const headers = [received(1), received(2), received(3)] as const;
  t.equal(equivocations.note(headers[0]), undefined);
  const found = equivocations.note(headers[1]);
  t.match(found, { first: headers[0], second: headers[1] });
  t.strictSame(
    headers.map((one) => equivocations.isThird(one)),
    [false, false, true],
  );
  const bytes = [...kept(found)].reduce((sum, { byteLength }) => sum + byteLength, 0);
  t.ok(bytes < 10_000, `${bytes} bytes`);
});
