// Who keeps others from the events over gRPC: connections that ask for nothing, whose other end is
// gone, or that take nothing.
import { connect } from 'node:http2';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { frame } from '../../../src/adapters/containers/grpc/frames.ts';
import { listenForSubscribers } from '../../../src/adapters/grpc-events/event-listener.ts';
import { SUBSCRIBE_ON } from '../../../src/adapters/grpc-events/event-messages.ts';
import { eventLimits as limits } from '../../../src/base/limits/event-limits.ts';
import type { PlainMessage, Subscriber } from '../../../src/base/ports/event-service.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const SUBSCRIPTIONS = 5;
const LOOK_MS = 10_000;
const CURRENT_EVENT = frame(Uint8Array.of(0xba, 0x06, 0));

/** A listener whose subscribers get what the test writes. */
async function served(t: Test, subscriptionsMax = SUBSCRIPTIONS) {
  const clock = fakeClock(0);
  const open: Subscriber[] = [];
  let slow = 0;
  const service = {
    async subscribe(_request: unknown, subscriber: Subscriber) {
      open.push(subscriber);
      await new Promise((resolve) => subscriber.signal.addEventListener('abort', resolve));
      open.splice(open.indexOf(subscriber), 1);
    },
    endedSlow: () => void slow++,
  };
  const options = { host: '127.0.0.1', port: 0, subscriptionsMax, subscriptionsOfClientMax: 5 };
  const { port, close } = await listenForSubscribers(options, service, clock);
  t.teardown(close);
  return { port, clock, open, slow: () => slow };
}

function dialled(t: Test, port: number, localAddress: string): Socket {
  const socket = dial({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  t.teardown(() => socket.destroy());
  return socket;
}

function subscribe(t: Test, port: number, localAddress: string) {
  const socket = dialled(t, port, localAddress);
  const http = connect('http://localhost', { createConnection: () => socket });
  http.on('error', () => {});
  t.teardown(() => http.destroy());
  const stream = http.request({
    ':method': 'POST',
    ':path': SUBSCRIBE_ON,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => {}).end(CURRENT_EVENT);
  return stream;
}

async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; !holds(); i++) {
    if (i > 1000) throw new Error('in vain');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

t.test('connections without a subscription', async (t) => {
  const { port, open } = await served(t);
  const ofOne = Array.from({ length: 2 * limits.idleConnections.value }, () =>
    dialled(t, port, '127.0.0.7').resume(),
  );
  const kept = limits.idleOfAddress.value;
  const left = () => ofOne.filter(({ closed }) => !closed).length;
  await until(() => left() <= kept);
  subscribe(t, port, '127.0.0.8').resume();
  await until(() => open.length === 1);
  t.equal(left(), kept, 'one address keeps its share');
  const ofMany: Socket[] = [];
  for (let i = 0; ofMany.length < limits.idleConnections.value; i++) {
    ofMany.push(dialled(t, port, `127.0.1.${i}`).resume());
  }
  await until(() => left() === 0 || ofMany.some(({ closed }) => closed));
  subscribe(t, port, '127.0.0.9').resume();
  await until(() => open.length === 2);
  t.pass('who has most makes room');
});

t.test('a connection whose other end is gone', async (t) => {
  const { port, clock, open } = await served(t);
  const halves: Socket[] = [];
  const relay = createServer((near) => {
    const far = dialled(t, port, '127.0.0.8');
    halves.push(
      near.on('error', () => {}),
      far,
    );
    near.pipe(far).pipe(near);
  }).listen();
  t.teardown(() => relay.close());
  t.teardown(() => {
    for (const half of halves) half.destroy();
  });
  subscribe(t, (relay.address() as AddressInfo).port, '127.0.0.8').resume();
  await until(() => open.length === 1);
  const [near, far] = halves as [Socket, Socket];
  for (let ms = 0; ms < 2 * limits.silent.value; ms += LOOK_MS) {
    const before = near.bytesRead;
    await clock.advance(LOOK_MS);
    await until(() => near.bytesRead > before && far.bytesWritten === near.bytesRead);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.equal(open.length, 1, 'one that answers stays, however little happens');
  for (const half of halves) half.unpipe().pause();
  await clock.advance(limits.silent.value + 2 * LOOK_MS);
  await until(() => open.length === 0);
  t.pass('its place comes back');
});

t.test('subscribers that take nothing while others wait', async (t) => {
  const { port, clock, open, slow } = await served(t, 20);
  const bytes = 2 * 1024 * 1024;
  const event = (length: number): PlainMessage => ({
    rollbackCompleted: { returnToBlockSignature: new Uint8Array(length) },
  });
  const idle = limits.waiting.value / bytes + 2;
  for (let i = 0; i < idle; i++) subscribe(t, port, `127.0.0.${20 + i}`);
  await until(() => open.length === idle);
  for (const { write } of open) write(event(bytes)).catch(() => {});
  subscribe(t, port, '127.0.0.8').resume();
  await until(() => open.length === idle + 1);
  let isTaken = false;
  void open
    .at(-1)!
    .write(event(1))
    .then(() => {
      isTaken = true;
    });
  await clock.advance(limits.takeCrowded.value - 1);
  t.notOk(isTaken, 'too much waits');
  await clock.advance(1);
  await until(() => isTaken);
  t.ok(slow() > 0 && slow() < idle, 'no more are ended than the room needs');
});

t.test('requests without end', async (t) => {
  const { port, clock } = await served(t);
  const http = connect('http://localhost', {
    createConnection: () => dialled(t, port, '127.0.0.8'),
  });
  http.on('error', () => {});
  t.teardown(() => http.destroy());
  const headers = { ':method': 'POST', ':path': '/', 'content-type': 'application/grpc' };
  const ask = async (): Promise<unknown> => {
    if (http.destroyed) return undefined;
    const stream = http.request(headers).on('error', () => {});
    let status: unknown;
    stream.on('response', (answer) => {
      status = answer['grpc-status'];
    });
    stream.resume().end();
    await new Promise((resolve) => stream.once('close', resolve));
    return status;
  };
  const most = limits.requests.value;
  for (let interval = 0; interval < 2; interval++) {
    const answers = [];
    for (let i = 0; i < most; i++) answers.push(await ask());
    t.strictSame(new Set(answers), new Set(['12']), 'there is no such method');
    await clock.advance(LOOK_MS);
  }
  let answered = 0;
  while (answered < 3 * most && (await ask()) !== undefined) answered++;
  t.ok(answered <= most + 1, `${answered} are answered`);
});
