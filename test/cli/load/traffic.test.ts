// Connections of a load that end are opened again, but not for ever (src/cli/load/traffic.ts).
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Due, Place } from '../../../src/cli/load/connection.ts';
import { drive } from '../../../src/cli/load/traffic.ts';

const REQUESTS = 10;
const BYTES = Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');

/** Answers `isAnswered` of the requests, and ends the connection of the others. */
async function placeOf(t: Test, isAnswered: (n: number) => boolean): Promise<Place> {
  let seen = 0;
  const server: Server = createServer((request, response) => {
    if (isAnswered(seen++)) response.setHeader('content-length', 2).end('ok');
    else request.socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

async function driven(place: Place, failuresMax: number) {
  const counts = { sent: 0, answered: 0, lost: 0 };
  const givenUp = await drive<Due>(
    [place],
    () => ({
      next: (now) => (counts.sent++ < REQUESTS ? { bytes: BYTES, at: now } : undefined),
      answered: () => void counts.answered++,
      lost: () => void counts.lost++,
    }),
    { connections: 1, failuresMax },
  );
  return { ...counts, givenUp: givenUp.length };
}

t.test('a connection that ends is opened again', async (t) => {
  const place = await placeOf(t, (n) => n % 3 !== 2);
  const { answered, lost, givenUp } = await driven(place, 2);
  t.strictSame([answered, lost, givenUp], [7, 3, 0]);
});

t.test('a place that never answers is given up', async (t) => {
  const { answered, lost, givenUp } = await driven(await placeOf(t, () => false), 3);
  t.strictSame([answered, lost, givenUp], [0, 3, 1]);
});

t.test('a single failure is enough where it is asked for', async (t) => {
  const { answered, lost, givenUp } = await driven(await placeOf(t, (n) => n < 4), 1);
  t.strictSame([answered, lost, givenUp], [4, 1, 1]);
});
