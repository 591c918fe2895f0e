/** Requirements for every Network (src/base/ports/network.ts), run against each implementation. */
import type { Test } from 'tap';
import {
  MalformedStream,
  type Network,
  type PeerConnection,
  type PeerStream,
} from '../../src/base/ports/network.ts';

export interface HostUnderTest {
  readonly network: Network;
  /** Where the others find it. */
  readonly host: string;
}

export interface NetworksUnderTest {
  host(): Promise<HostUnderTest>;
}

const LIMITS = { messageBytesMax: 1_000_000, inboundStreamsMax: 4 };
const LARGE = 900_000;
const ANSWER_BYTES_MAX = 2_000_000;

export function networkCompliance(t: Test, name: string, create: () => NetworksUnderTest): void {
  t.test(name, async (t) => {
    const signal = () => AbortSignal.timeout(20_000);

    async function pair(t: Test, handler: (stream: PeerStream, from: PeerConnection) => void) {
      const networks = create();
      const [a, b] = [await networks.host(), await networks.host()];
      b.network.handle('/test/1', LIMITS, handler);
      const incoming = new Promise<PeerConnection>((resolve) => b.network.onConnection(resolve));
      await a.network.listen({ host: a.host, port: undefined, connectionsMax: 10 });
      const port = (await b.network.listen({ host: b.host, port: 0, connectionsMax: 10 }))!;
      t.teardown(async () => {
        await a.network.close();
        await b.network.close();
      });
      const near = await a.network.dial(b.host, port, signal());
      return { a, b, port, near, far: await incoming };
    }

    const echo = async (stream: PeerStream): Promise<void> => {
      for (let got = await stream.receive(); got !== undefined; got = await stream.receive()) {
        await stream.send(got);
      }
      await stream.end();
    };

    t.test('both ends know each other', async (t) => {
      const { near, far, a, b, port } = await pair(t, () => {});
      t.strictSame(near.localId, far.remoteId);
      t.strictSame(near.remoteId, far.localId);
      t.notSame(near.localId, near.remoteId);
      t.match(near, { outbound: true, remotePort: port, remoteHost: b.host });
      t.match(far, { outbound: false, remoteHost: a.host });
    });

    t.test('messages of every size arrive whole and in order', async (t) => {
      const { near } = await pair(t, (stream) => void echo(stream));
      const stream = await near.open('/test/1', ANSWER_BYTES_MAX, signal());
      for (const size of [0, 1, 5, 65_535, 65_536, 65_537, LARGE]) {
        const message = Uint8Array.from({ length: size }, (_, i) => (i * 7 + size) & 255);
        await stream.send(message);
        t.strictSame(Buffer.from((await stream.receive())!), Buffer.from(message), `${size} bytes`);
      }
      await stream.end();
      t.equal(await stream.receive(), undefined, 'the other side has ended');
    });

    t.test('streams are independent', async (t) => {
      const { near } = await pair(t, (stream) => void echo(stream).catch(() => {}));
      const [one, two] = [
        await near.open('/test/1', ANSWER_BYTES_MAX),
        await near.open('/test/1', ANSWER_BYTES_MAX),
      ];
      await two.send(Uint8Array.of(2));
      t.strictSame([...(await two.receive())!], [2], 'the first one does not block it');
      one.abort();
      await two.send(Uint8Array.of(3));
      t.strictSame([...(await two.receive())!], [3], 'and may break');
      await t.rejects(one.receive());
      await t.rejects(one.send(Uint8Array.of(1)));
    });

    t.test('a message over the limit ends the connection', async (t) => {
      const outcome = Promise.withResolvers<unknown>();
      const { near, far } = await pair(t, (stream) => {
        stream.receive().then(outcome.resolve, outcome.resolve);
      });
      const closed = Promise.all(
        [near, far].map((one) => new Promise<void>((r) => one.onClose(r))),
      );
      const stream = await near.open('/test/1', ANSWER_BYTES_MAX);
      stream.send(new Uint8Array(LIMITS.messageBytesMax + 1)).catch(() => {});
      t.ok((await outcome.promise) instanceof MalformedStream);
      await closed;
      await t.rejects(near.open('/test/1', 1));
    });

    t.test('what comes back is bounded too', async (t) => {
      const { near } = await pair(t, (stream) => void echo(stream).catch(() => {}));
      const stream = await near.open('/test/1', 100);
      await stream.send(new Uint8Array(101));
      await t.rejects(stream.receive(), { name: 'MalformedStream' });
    });

    t.test('a sender waits for a reader that is slow', async (t) => {
      const reader = Promise.withResolvers<PeerStream>();
      const { near } = await pair(t, reader.resolve);
      const stream = await near.open('/test/1', 1);
      let sent = 0;
      const count = 40;
      const all = (async () => {
        for (; sent < count; sent++) await stream.send(new Uint8Array(LARGE).fill(sent));
      })();
      const slow = await reader.promise;
      let before = -1;
      while (sent !== before) {
        before = sent;
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      t.ok(sent < count / 2, `${sent} of ${count} messages were sent to nobody`);
      for (let i = 0; i < count; i++) {
        const message = (await slow.receive())!;
        t.ok(message.length === LARGE && message[LARGE - 1] === i, `message ${i}`);
      }
      await all;
    });

    t.test('no more streams than allowed', async (t) => {
      const held: PeerStream[] = [];
      const { near } = await pair(t, (stream) => void held.push(stream));
      const tries = await Promise.allSettled(
        Array.from({ length: LIMITS.inboundStreamsMax + 3 }, async () => {
          const stream = await near.open('/test/1', 1);
          await stream.send(Uint8Array.of(1));
          await stream.receive();
        }).map((one) => Promise.race([one, new Promise((r) => setTimeout(r, 1000, 'open'))])),
      );
      t.equal(held.length, LIMITS.inboundStreamsMax);
      t.equal(tries.filter((one) => one.status === 'fulfilled').length, LIMITS.inboundStreamsMax);
      for (const stream of held) stream.abort();
    });

    t.test('a protocol that nobody handles', async (t) => {
      const { near } = await pair(t, () => {});
      await t.rejects(
        (async () => {
          const stream = await near.open('/unknown/1', 1, signal());
          await stream.send(Uint8Array.of(1));
          await stream.receive();
        })(),
      );
    });

    t.test('what was sent before a close arrives', async (t) => {
      const got = Promise.withResolvers<Uint8Array | undefined>();
      const { near, far } = await pair(t, (stream) => {
        stream.receive().then(got.resolve, got.reject);
      });
      const closed = new Promise<void>((resolve) => far.onClose(resolve));
      const stream = await near.open('/test/1', 1);
      await stream.send(Uint8Array.of(7));
      await near.close();
      t.strictSame([...(await got.promise)!], [7]);
      await closed;
      await t.rejects(stream.send(Uint8Array.of(8)));
      let late = false;
      near.onClose(() => {
        late = true;
      });
      t.ok(late, 'a late listener is told at once');
    });

    t.test('a dial that nobody answers', async (t) => {
      const { a, b, port } = await pair(t, () => {});
      await b.network.close();
      await t.rejects(a.network.dial(b.host, port, signal()));
      await t.rejects(a.network.dial(b.host, port, AbortSignal.abort()));
    });

    t.test('connections are bounded', async (t) => {
      const { a, b, port } = await pair(t, (stream) => void echo(stream).catch(() => {}));
      const alive = await Promise.all(
        Array.from({ length: 15 }, async () => {
          try {
            const near = await a.network.dial(b.host, port, signal());
            const stream = await near.open('/test/1', 10, signal());
            await stream.send(Uint8Array.of(1));
            return (await stream.receive()) !== undefined;
          } catch {
            return false;
          }
        }),
      );
      const count = alive.filter(Boolean).length;
      t.ok(count <= 10, `${count} of 15`);
    });
  });
}
