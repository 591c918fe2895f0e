// Threads that check signatures give way to those that answer clients and make blocks.
import { getPriority } from 'node:os';
import t from 'tap';
import { createVerifyThreads } from '../../src/adapters/verify/signature-threads.ts';
import { family } from '../family.ts';
import { niceValues } from '../nice-values.ts';

t.test('threads that verify', { skip: process.platform !== 'linux' }, async (t) => {
  const verifier = createVerifyThreads(family, { threads: 1 });
  t.teardown(() => verifier.close());
  const own = getPriority();
  t.notOk(niceValues().includes(Math.min(19, own + 8)));
  const [key, signature] = [family.publicKeySize, family.signatureSize];
  await verifier.verifyOne(new Uint8Array(key), Uint8Array.of(1), new Uint8Array(signature));
  t.ok(niceValues().includes(Math.min(19, own + 8)));
  t.equal(getPriority(), own, 'this thread does not');
});
