// What one connection of a signer holds for a node that takes no answers.
import t from 'tap';
import { concat, equal } from '../../src/base/bytes.ts';
import { FrameReader, frameOf } from '../../src/signer/frames.ts';
import { PATIENCE_MS, SignerConnection } from '../../src/signer/signer-connection.ts';
import { encodeQuestion, KEYS_MAX, SIGNER_VERSION } from '../../src/signer/signer-messages.ts';
import { silent } from '../finality/schedule.ts';
import { scheme } from '../finality/vectors.ts';
import { fakeClock } from '../node/fake-clock.ts';

/** As the protocol says (signer.md). */
const WAITING_BYTES_MAX = 1024 * 1024;
/** As large as the blocks of some networks. */
const FRAME_BYTES_MAX = 200_000;

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

/** A connection whose node has greeted, and why it ended. */
function greeted() {
  const clock = fakeClock(0);
  const ended: unknown[] = [];
  const connection = new SignerConnection(
    { waitingBytes: () => 0, send: () => {}, close: () => {} },
    FRAME_BYTES_MAX,
    {
      scheme,
      clock,
      log: { ...silent, warn: (_event, fields) => void ended.push(fields?.['why']) },
      signer: { greet: () => ({ keys: [] }), sign: async () => ({ refused: 'no' }) },
      onFailure: (cause) => ended.push(cause),
    },
  );
  const genesis = new Uint8Array(32);
  const greeting = { version: SIGNER_VERSION, chainId: scheme.chainId, genesis };
  const frame = frameOf(encodeQuestion({ id: 0, greeting }, scheme));
  connection.take(frame);
  return { clock, ended, connection, frame };
}

t.test('a frame that goes on byte by byte', async (t) => {
  const { clock, ended, connection, frame } = greeted();
  for (let at = 0; at < 4; at++) {
    t.strictSame(ended, []);
    connection.take(frame.subarray(at, at + 1));
    await clock.advance(PATIENCE_MS / 4);
  }
  t.strictSame(ended, ['a frame did not end'], 'its time begins with it');
});

t.test('each frame has its own time', async (t) => {
  const { clock, ended, connection, frame } = greeted();
  // Each part has the end of one frame and the beginning of the next.
  const shifted = concat(frame.subarray(3), frame.subarray(0, 3));
  connection.take(frame.subarray(0, 3));
  for (let i = 0; i < 4; i++) {
    await clock.advance(PATIENCE_MS / 2);
    connection.take(shifted);
  }
  t.strictSame(ended, []);
  await clock.advance(PATIENCE_MS);
  t.strictSame(ended, ['a frame did not end']);
});

t.test('a frame in as many parts as it has bytes', (t) => {
  const reader = new FrameReader(FRAME_BYTES_MAX);
  const body = new Uint8Array(FRAME_BYTES_MAX).fill(7);
  const frame = frameOf(body);
  const found: Uint8Array[] = [];
  for (let at = 0; at < frame.length; at++) found.push(...reader.take(frame.subarray(at, at + 1)));
  t.equal(found.length, 1);
  t.ok(equal(found[0]!, body));
  t.notOk(reader.isInside);
  t.end();
});
