// Threads that check signatures give way to those that answer clients and make blocks.
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import t from 'tap';
import { createVerifyThreads } from '../../src/cli/signature-threads.ts';
import { family } from '../family.ts';

const NICE = 16;
const TASKS = '/proc/self/task';

/** The nice values of all threads of this process. */
const niceValues = (): number[] =>
  readdirSync(TASKS).map((id) => {
    const stat = readFileSync(`${TASKS}/${id}/stat`, 'latin1');
    // The name of the thread, which may have spaces, is in parentheses.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[NICE]);
  });

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
