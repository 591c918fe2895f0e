// Messages in pieces, and what a container makes the node hold by them.
import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import {
  FRAME_HEAD_BYTES,
  frame,
  nothingHeld,
  receiveMessage,
} from '../../../../src/adapters/containers/grpc/frames.ts';
import { GrpcRefusal } from '../../../../src/adapters/containers/grpc/status.ts';
import { contractLimits as limits } from '../../../../src/base/limits/contract-limits.ts';
import { fakeClock } from '../../../node/fake-clock.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A request, and what the node has of it. */
function request(held = nothingHeld()) {
  const stream = new PassThrough();
  const clock = fakeClock(0);
  const outcomes: (Uint8Array | GrpcRefusal)[] = [];
  receiveMessage(stream, held, limits.message.value, clock, (outcome) => outcomes.push(outcome));
  return { stream, held, clock, outcomes };
}

t.test('a message of many pieces is what was sent', async (t) => {
  const { stream, held, outcomes, clock } = request();
  const message = Buffer.from(Array.from({ length: 3000 }, (_, i) => i % 251));
  const bytes = frame(message);
  for (let at = 0; at < bytes.length; at += 7) stream.emit('data', bytes.subarray(at, at + 7));
  stream.emit('end');
  t.strictSame(
    outcomes.map((one) => Buffer.from(one as Uint8Array)),
    [message],
  );
  t.equal(held.arriving, 0);
  t.equal(clock.timers(), 0);
});

t.test('a message does not keep the memory in which it was read', async (t) => {
  const { stream, outcomes } = request();
  const read = Buffer.alloc(65_536);
  frame(Buffer.from('abc')).copy(read);
  stream.emit('data', read.subarray(0, FRAME_HEAD_BYTES + 3));
  stream.emit('end');
  const message = outcomes[0] as Uint8Array;
  t.not(message.buffer, read.buffer);
  t.ok(message.buffer.byteLength < 1024);
});

t.test('pieces of one byte cost more than a byte', async (t) => {
  const { stream, held, outcomes } = request();
  const most = limits.arriving.value / limits.piece.value;
  const piece = Buffer.of(0);
  for (let i = 0; i < most && outcomes.length === 0; i++) stream.emit('data', piece);
  t.match(outcomes, [{ status: 'RESOURCE_EXHAUSTED' }]);
  t.equal(held.arriving, 0);
});

t.test('unfinished messages have one limit and one time', async (t) => {
  const held = nothingHeld();
  const first = request(held);
  const half = Buffer.alloc(limits.message.value);
  first.stream.emit('data', half);
  const second = request(held);
  second.stream.emit('data', half);
  t.match(second.outcomes, [{ status: 'RESOURCE_EXHAUSTED' }]);
  await first.clock.advance(limits.messageTime.value - 1);
  t.same(first.outcomes, []);
  await first.clock.advance(1);
  t.match(first.outcomes, [{ status: 'DEADLINE_EXCEEDED' }]);
  t.ok(first.outcomes[0] instanceof GrpcRefusal);
  t.equal(held.arriving, 0);
});

t.test('an unfinished message keeps no memory in which it was read either', async (t) => {
  const { stream, outcomes } = request();
  const reads: WeakRef<ArrayBuffer>[] = [];
  for (let i = 0; i < 100; i++) {
    const read = new ArrayBuffer(65_536);
    reads.push(new WeakRef(read));
    stream.emit('data', Buffer.from(read, i, 1));
    // A reference that has been followed lives until the end of its turn.
    await new Promise(setImmediate);
  }
  collectGarbage();
  t.same(outcomes, [], 'it goes on');
  const kept = reads.filter((read) => read.deref() !== undefined);
  t.ok(kept.length <= 1, 'but that of the last piece, while a stream goes on with it');
});
