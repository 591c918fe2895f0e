// Real sockets between a signer and its node: who may connect, what is bounded, and what happens when one is gone.
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import {
  listenSigner,
  type SignerPlace,
  signerConnector,
} from '../../../src/adapters/signer/signer-socket.ts';
import { systemClock, systemRandom } from '../../../src/adapters/system.ts';
import { base58 } from '../../../src/base/base58.ts';
import { utf8 } from '../../../src/base/bytes.ts';
import type { Clock } from '../../../src/base/ports/clock.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import { frameOf } from '../../../src/signer/frames.ts';
import { RemoteKeys } from '../../../src/signer/remote-keys.ts';
import { PATIENCE_MS, SignerConnection } from '../../../src/signer/signer-connection.ts';
import { type Answer, encodeQuestion, type ToSign } from '../../../src/signer/signer-messages.ts';
import { family } from '../../family.ts';
import { silent } from '../../finality/schedule.ts';
import { temporaryFolder } from '../../system/e2e/dev-node.ts';
import { eventually } from '../../system/e2e/process.ts';
import { certificates } from './certificates.ts';

t.setTimeout(240_000);

const scheme = createChainScheme(family, 'T'.charCodeAt(0));
const { publicKey, privateKey } = family.keyPairFromPhrase('the owner');
const address = scheme.addressOf(publicKey);
const genesis = new Uint8Array(32).fill(7);
const FRAME_BYTES_MAX = 10_000;
const dir = temporaryFolder(t);
const pem = certificates(dir);
let number = 0;

/** What waits for PATIENCE_MS waits for a moment only. */
const hasty: Pick<Clock, 'after'> = {
  after(ms, action) {
    const timer = setTimeout(action, ms >= PATIENCE_MS ? 1_500 : ms);
    return () => clearTimeout(timer);
  },
};

/** A signer of one key. */
async function listening(place: SignerPlace, answer?: (of: ToSign) => Promise<Answer>) {
  const open = { now: 0, ended: 0 };
  const signer = {
    greet: (): Answer => ({ keys: [publicKey] }),
    sign:
      answer ??
      (async ({ message }: ToSign): Promise<Answer> => {
        return { signature: family.sign(privateKey, message, systemRandom) };
      }),
  };
  const ports = {
    scheme,
    clock: hasty,
    log: silent,
    signer,
    onFailure: (cause: unknown) => void t.fail(String(cause)),
  };
  const listener = await listenSigner(place, (line) => {
    open.now += 1;
    const connection = new SignerConnection(line, FRAME_BYTES_MAX, ports);
    return {
      take: (chunk) => connection.take(chunk),
      closed() {
        connection.closed();
        open.now -= 1;
        open.ended += 1;
      },
    };
  });
  return { listener, open };
}

const unixPlace = (): { socket: string } => ({ socket: join(dir, `s${number++}`) });
const TIMEOUT_MS = 60_000;
const keysAt = (place: SignerPlace, timeoutMs = TIMEOUT_MS): RemoteKeys =>
  new RemoteKeys(
    { genesis, consensus: genesis, timeoutMs },
    { scheme, clock: systemClock(undefined), log: silent, connect: signerConnector(place) },
  );
const greeting = frameOf(
  encodeQuestion({ id: 0, greeting: { version: 1, chainId: scheme.chainId, genesis } }, scheme),
);
const ended = (socket: Socket): Promise<true> =>
  new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(true));
    socket.resume();
  });

t.test('questions and answers over both', async (t) => {
  const tls = await listening({ host: '127.0.0.1', port: 0, tls: pem.of('signer') });
  const unix = unixPlace();
  const plain = await listening(unix);
  const { port = 0 } = tls.listener;
  for (const place of [unix, { host: '127.0.0.1', port, tls: pem.of('node') }]) {
    const keys = keysAt(place);
    await keys.start();
    t.same(keys.publicKeyOf(address), publicKey);
    t.equal(keys.problem(), undefined);
    const messages = Array.from({ length: 200 }, (_, i) => utf8(`message ${i}`.repeat(i + 1)));
    const signatures = await Promise.all(messages.map((one) => keys.sign('text', address, one)));
    for (const [i, signature] of signatures.entries()) {
      t.ok(family.verify(publicKey, messages[i]!, signature), `message ${i}`);
    }
    const since = performance.now();
    await t.resolves(Promise.all([keys.refresh(), keys.refresh()]), 'two may ask at once');
    const under = keys.refresh();
    keys.stop();
    await t.rejects(under, { code: 640 }, 'nor does what was under way');
    await t.rejects(keys.sign('text', address, utf8('late')), { code: 640 });
    await t.rejects(keys.refresh(), { code: 640 });
    t.ok(performance.now() - since < TIMEOUT_MS, 'nothing waits for a stopped one');
  }
  await Promise.all([tls.listener.close(), plain.listener.close()]);
});

t.test('nobody without a certificate of the authority gets an answer', async (t) => {
  const { listener, open } = await listening({ host: '127.0.0.1', port: 0, tls: pem.of('signer') });
  const { port = 0 } = listener;
  const at = { host: '127.0.0.1', port };
  const stranger = keysAt({ ...at, tls: { ...pem.of('stranger'), ca: pem.of('node').ca } }, 5_000);
  await t.rejects(stranger.start());
  const trusting = keysAt({ ...at, tls: pem.of('node', 'other') }, 5_000);
  await t.rejects(
    trusting.start(),
    /certificate|authority|self-signed|verify/i,
    'nor is it trusted',
  );
  const none = connectTls({ ...at, ca: Buffer.from(pem.of('node').ca) });
  none.write(greeting);
  t.ok(await ended(none));
  const plain = createConnection(port, '127.0.0.1');
  plain.write(greeting);
  t.ok(await ended(plain));
  t.equal(open.ended, 0, 'no connection came as far as the signer');
  await listener.close();
});

t.test('noise, frames that are too long, and what does not end', async (t) => {
  const place = unixPlace();
  const { listener, open } = await listening(place);
  const bad: Record<string, Uint8Array[]> = {
    'a length of 0': [new Uint8Array(4)],
    'a length beyond the limit': [Uint8Array.of(0, 0, 0x27, 0x11)],
    noise: [Uint8Array.from({ length: 500 }, (_, i) => (i * 37) % 256)],
    'a question before the greeting': [
      frameOf(
        encodeQuestion(
          { id: 1, toSign: { kind: 'text', address, password: '', message: utf8('x') } },
          scheme,
        ),
      ),
    ],
    'an unknown kind': [greeting, frameOf(Uint8Array.of(0, 0, 0, 1, 99))],
    'a cut question': [greeting, frameOf(Uint8Array.of(0, 0, 0, 1, 2, 3))],
    'a frame that does not end': [greeting, Uint8Array.of(0, 0, 0, 50, 1)],
    'half a greeting': [greeting.subarray(0, 10)],
    silence: [],
  };
  for (const [what, parts] of Object.entries(bad)) {
    const socket = createConnection(place.socket);
    for (const part of parts) socket.write(part);
    t.ok(await ended(socket), what);
  }
  const slow = createConnection(place.socket);
  const heard: Buffer[] = [];
  slow.on('error', () => undefined);
  slow.on('data', (chunk) => heard.push(chunk));
  for (const byte of greeting) {
    slow.write(Uint8Array.of(byte));
    await pause(1);
  }
  await eventually('an answer', async () => heard.length > 0 || undefined);
  slow.destroy();
  await eventually('all are gone', async () => open.now === 0 || undefined);
  await listener.close();
});

t.test('refusals have their errors, and an answer that does not come its time', async (t) => {
  const place = unixPlace();
  const answers: Answer[] = [{ refused: 'it is late' }, { noKey: true }];
  const { listener } = await listening(place, async () => answers.shift() ?? new Promise(() => {}));
  const keys = keysAt(place, 3_000);
  await keys.start();
  const ask = () => keys.sign('text', address, utf8('x'));
  await t.rejects(ask(), { code: 115, message: /it is late/ });
  await t.rejects(ask(), { code: 115, message: /no private key/ });
  await t.rejects(ask(), { code: 640 });
  keys.stop();
  await listener.close();
});

t.test('what was asked when the connection broke is asked again', async (t) => {
  const place = unixPlace();
  let asked = 0;
  const deaf = await listening(place, () => {
    asked += 1;
    return new Promise(() => {});
  });
  const keys = keysAt(place, 20_000);
  await keys.start();
  const signing = keys.sign('text', address, utf8('x'));
  await eventually('it is asked', async () => asked === 1 || undefined);
  await deaf.listener.close();
  await eventually('it is away', async () => keys.problem() || undefined);
  await t.rejects(keys.sign('text', address, utf8('y')), { code: 640 });
  const next = await listening(place);
  t.ok(family.verify(publicKey, utf8('x'), await signing));
  t.equal(keys.problem(), undefined);
  keys.stop();
  await next.listener.close();
});

t.test('a signer that speaks something else is left, and asked again', async (t) => {
  const place = unixPlace();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write(utf8('HTTP/1.1 400 Bad Request\r\n\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(place.socket, resolve));
  const keys = keysAt(place, 3_000);
  await t.rejects(keys.start(), /protocol/);
  server.close();
  t.equal(keys.publicKeyOf(base58.decode('1')), undefined);
});
