// What one connection of a signer holds for a node that takes no answers.
import t from 'tap';
import { frameOf } from '../../src/signer/frames.ts';
import { SignerConnection } from '../../src/signer/signer-connection.ts';
import { encodeQuestion, KEYS_MAX, SIGNER_VERSION } from '../../src/signer/signer-messages.ts';
import { silent } from '../finality/schedule.ts';
import { scheme } from '../finality/vectors.ts';
import { fakeClock } from '../node/fake-clock.ts';

/** As the protocol says (signer.md). */
const WAITING_BYTES_MAX = 1024 * 1024;

t.test('a node that greets again and again, and takes no answers', async (t) => {
  let waiting = 0;
  let isOpen = true;
  const line = {
    waitingBytes: () => waiting,
    send: (bytes: Uint8Array) => {
      waiting += bytes.length;
    },
    close: () => {
      isOpen = false;
    },
  };
  const keys = Array.from({ length: KEYS_MAX }, () => new Uint8Array(32));
  const connection = new SignerConnection(line, 4096, {
    scheme,
    clock: fakeClock(0),
    log: silent,
    signer: { greet: () => ({ keys }), sign: () => Promise.reject(new Error('it signs nothing')) },
    onFailure: (cause) => t.fail(String(cause)),
  });
  const greeting = {
    version: SIGNER_VERSION,
    chainId: scheme.chainId,
    genesis: new Uint8Array(32),
  };
  const frame = frameOf(encodeQuestion({ id: 1, greeting }, scheme));
  for (let asked = 0; asked < 100; asked++) connection.take(frame);
  t.notOk(isOpen, 'it is left');
  t.ok(waiting < WAITING_BYTES_MAX + KEYS_MAX * 64, `${waiting} bytes wait`);
});
