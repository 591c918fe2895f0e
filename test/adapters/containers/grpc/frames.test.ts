// Frames of HTTP/2 at random, good ones and bad ones: the process lives, memory is bounded, and
// other containers are served.
import { connect } from 'node:net';
import t from 'tap';
import { MIB } from '../../../../src/base/limits/budget.ts';
import { Rng } from '../../../generators/random.ts';
import { execution } from './executions.ts';
import { connected, connectionId, opened, patient } from './opened.ts';
import { addressOf, ask } from './sdk-client.ts';

const SESSIONS = 300;
const FRAMES_MAX = 200;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const [DATA, HEADERS, RST, SETTINGS, PING, GOAWAY, WINDOW] = [0, 1, 3, 4, 6, 7, 8];
const END_STREAM = 1;
const END_HEADERS = 4;

const frame = (type: number, flags: number, stream: number, payload: Uint8Array): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
};

/** Header fields of a request in literal form; `:method: POST` and `:scheme: http` are in the table. */
const headers = (token: string): Buffer => {
  const literal = (name: string, value: string) =>
    Buffer.concat([
      Buffer.from([0, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ]);
  return Buffer.concat([
    Buffer.from([0x83, 0x86]),
    literal(':path', '/wavesenterprise.ContractService/Connect'),
    literal('content-type', 'application/grpc'),
    literal('authorization', token),
  ]);
};

/** Frames of one session: requests mostly, between frames of every kind. */
function frames(rng: Rng, token: string): Buffer {
  const all = [PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0))];
  const message = Buffer.concat([Buffer.from([0, 0, 0, 0, 18, 10, 16]), Buffer.from(connectionId)]);
  const some = (bytes: number) => Buffer.from(rng.bytes(rng.below(bytes)));
  let next = 1;
  const known = () => Math.max(1, next - 2 * rng.below(6));
  for (let left = rng.below(FRAMES_MAX); left > 0; left--) {
    const kind = rng.below(20);
    if (kind < 8) {
      const good = rng.below(4) > 0;
      all.push(frame(HEADERS, END_HEADERS, next, headers(good ? token : 'forged')));
      if (rng.below(3) > 0) all.push(frame(DATA, END_STREAM, next, message));
      next += 2;
    } else if (kind < 12) all.push(frame(DATA, rng.below(2), known(), some(100)));
    else if (kind < 15) all.push(frame(RST, 0, known(), Buffer.from([0, 0, 0, rng.below(14)])));
    else if (kind < 16) all.push(frame(WINDOW, 0, known(), Buffer.from([0, 0, 1, rng.below(256)])));
    else if (kind < 17) all.push(frame(PING, rng.below(2), 0, Buffer.alloc(8)));
    else if (kind < 18) all.push(frame(SETTINGS, rng.below(2), 0, some(3)));
    else if (rng.below(10) > 0) continue;
    else if (kind < 19)
      all.push(frame(GOAWAY, 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, rng.below(3)])));
    else all.push(frame(rng.below(12), rng.below(256), rng.below(2) * known(), some(60)));
  }
  return Buffer.concat(all);
}

t.test('frames at random', { timeout: 60_000 }, async (t) => {
  const rng = new Rng(13);
  const { open } = await opened(t);
  const neighbour = await connected(t);
  let container = await open();
  const before = process.memoryUsage.rss();
  for (let i = 0; i < SESSIONS; i++) {
    let isEnded = false;
    void container.session.ended.then(() => {
      isEnded = true;
    });
    const socket = connect(addressOf(container.session).slice('unix:'.length));
    socket.on('error', () => {});
    socket.resume();
    const bytes = frames(rng, container.token);
    // What comes in one piece is read in one step.
    for (let at = 0; at < bytes.length && !socket.destroyed; ) {
      const end = rng.below(2) === 0 ? bytes.length : at + 1 + rng.below(2000);
      socket.write(bytes.subarray(at, end));
      at = end;
      if (rng.below(4) === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    socket.end();
    if (!socket.closed) {
      await Promise.race([new Promise((done) => socket.once('close', done)), pause(200)]);
    }
    socket.destroy();
    await pause(0);
    if (isEnded) {
      await container.session.close();
      container = await open();
    }
  }
  t.ok((process.memoryUsage.rss() - before) / MIB < 200);

  const { session, stream, client } = neighbour;
  const call = execution();
  const outcome = session.run(call, patient);
  const { transaction, authToken } = await stream.next();
  const commit = client.contract.commitExecutionSuccess.bind(client.contract);
  await ask(commit, { txId: transaction!.id, results: [], assetOperations: [] }, authToken);
  t.match(await outcome, { kind: 'success' });
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
