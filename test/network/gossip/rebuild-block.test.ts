// A block of version 100 is signed over its header alone (finality.md#blocks): what a peer adds to it is compared with the hash in it.
import t from 'tap';
import { decodeHex } from '../../../src/base/hex.ts';
import type { Verifier } from '../../../src/base/ports/verifier.ts';
import { decodeBlock, encodeBlock } from '../../../src/block/block.ts';
import { Rebuild } from '../../../src/network/gossip/rebuild-block.ts';
import { encodeBlocks } from '../../../src/network/messages/block-messages.ts';
import type { Session } from '../../../src/network/sessions/session.ts';
import { scheme, vectors } from '../../finality/vectors.ts';

const verifier: Verifier = {
  verifyOne: async (...check) => scheme.verify(...check),
  verify: async (checks) =>
    checks.map(({ publicKey, message, signature }) => scheme.verify(publicKey, message, signature)),
  close: async () => {},
};
const rebuild = new Rebuild(
  { transactionBytesMax: 1_000_000 },
  { scheme, verifier, index: { get: () => undefined, stop: () => {} } as never },
);
const good = decodeBlock(decodeHex(vectors.blocks[1]!.bytesHex), scheme);
const { header, transactions } = good;

/** A peer that answers each request for the block with these bytes. */
function peerWith(bytes: Uint8Array | undefined) {
  const offences: string[] = [];
  const session = {
    request: async () => encodeBlocks([bytes], scheme),
    offend: (offence: string) => void offences.push(offence),
  } as unknown as Session;
  return { session, offences };
}

t.test('the transactions that were signed', async (t) => {
  const { session } = peerWith(undefined);
  const found = await rebuild.from(
    { header, txs: transactions.map((bytes) => ({ bytes })) },
    session,
  );
  t.strictSame(found?.block.bytes, good.bytes);
});

t.test('others, listed and as a whole', async (t) => {
  const others = transactions.slice(1);
  const txs = others.map((bytes) => ({ bytes }));
  const { session, offences } = peerWith(encodeBlock(header, others, scheme));
  t.equal(await rebuild.from({ header, txs }, session), undefined);
  t.strictSame(offences, ['invalid-block']);
  const honest = peerWith(good.bytes);
  const found = await rebuild.from({ header, txs }, honest.session);
  t.strictSame(found?.block.bytes, good.bytes, 'asked for as a whole');
  t.notOk(found?.isAsListed);
});

t.test('a header alone says whether its generator has signed it', async (t) => {
  t.ok(await rebuild.mayBeSigned(header));
  t.notOk(await rebuild.mayBeSigned({ ...header, timestamp: header.timestamp + 1 }));
  const older = { ...header, version: 3, timestamp: header.timestamp + 1 } as const;
  t.ok(await rebuild.mayBeSigned(older), 'which only the whole block tells');
});
