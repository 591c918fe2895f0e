/** One question to one time server: what counts as an answer. */
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { askTime } from '../../src/adapters/ntp-question.ts';
import { blackHole, type TimeServer, timeServer } from './time-server.ts';

const YEAR_MS = 365 * 86_400_000;
const PATIENCE_MS = 300;

const ask = ({ place }: TimeServer, timeoutMs = 5000) =>
  askTime(place, { timeoutMs, now: Date.now });

t.test('the time of a server, by either version of the protocol', async (t) => {
  for (const host of ['127.0.0.1', '::1']) {
    const server = await timeServer(t, host);
    server.lie(70_000);
    const reply = await ask(server);
    if (typeof reply !== 'object') return t.fail(`${host}: ${reply}`);
    t.ok(Math.abs(reply.offsetMs - 70_000) < 1000, `${host}: ${reply.offsetMs}`);
  }
});

t.test('the seconds of the protocol begin again in 2036', async (t) => {
  const server = await timeServer(t);
  const firsts = [
    '1970-01-01T00:00:00Z',
    '2036-02-07T06:28:15Z',
    '2036-02-07T06:28:17Z',
    '2100-01-01Z',
  ];
  for (const at of firsts.map(Date.parse)) {
    server.lie(at - Date.now());
    const reply = await askTime(server.place, { timeoutMs: 5000, now: () => at });
    if (typeof reply !== 'object') return t.fail(`${at}: ${reply}`);
    t.ok(Math.abs(reply.offsetMs) < 1000, `${at}: ${reply.offsetMs}`);
  }
});

t.test('an answer that cannot be right counts as none', async (t) => {
  const server = await timeServer(t);
  t.ok(await ask(server));
  for (const [from, to] of [
    [-YEAR_MS, YEAR_MS],
    [0, 10_000],
    [10_000, 0],
  ] as const) {
    server.lie(from, to);
    t.equal(await ask(server), undefined, `received ${from}, sent ${to}`);
  }
  server.lie(0);
  for (const [why, byte, value] of [
    ['no server', 0, 0x23],
    ['without time itself', 0, 0xe4],
    ['of a source that is being looked for', 1, 0],
    ['a stratum that does not exist', 1, 16],
  ] as const) {
    server.answer((packet) => void packet.writeUInt8(value, byte));
    t.equal(await ask(server), undefined, why);
  }
});

t.test('what is no answer to this question is passed over', async (t) => {
  const server = await timeServer(t);
  server.deliver((packet, send) => {
    send(Buffer.alloc(0));
    send(Buffer.from('garbage'));
    send(packet.subarray(0, 47));
    const other = Buffer.from(packet);
    other[24]! ^= 1;
    other.writeUInt32BE(1, 32);
    send(other);
  });
  t.equal(await ask(server, PATIENCE_MS), undefined, 'the timestamp of another question');
  server.deliver((packet, send) => {
    send(Buffer.from('garbage'));
    send(packet);
    const later = Buffer.from(packet);
    later.writeUInt32BE(1, 40);
    send(later);
  });
  const reply = await ask(server);
  t.ok(typeof reply === 'object' && Math.abs(reply.offsetMs) < 1000, 'the first one counts');
});

t.test('two questions have different timestamps, which do not tell the time', async (t) => {
  const server = await timeServer(t);
  const seen = new Set<string>();
  server.answer((packet) => void seen.add(packet.toString('hex', 24, 32)));
  const sameTime = () => 1_574_240_400_000;
  for (let i = 0; i < 3; i++) await askTime(server.place, { timeoutMs: 5000, now: sameTime });
  t.equal(seen.size, 3);
});

t.test('a late answer counts as none', async (t) => {
  const server = await timeServer(t);
  server.deliver((packet, send) => void setTimeout(() => send(packet), 2 * PATIENCE_MS));
  t.equal(await ask(server, PATIENCE_MS), undefined, 'after the time of the question');
  server.deliver((packet, send) => void setTimeout(() => send(packet), 2300));
  t.equal(await ask(server), undefined, 'after so long that its time may be wrong by seconds');
});

t.test('a server that wants no questions says so', async (t) => {
  const server = await timeServer(t);
  for (const code of ['DENY', 'RSTR', 'RATE']) {
    server.answer((packet) => {
      packet.writeUInt8(0xe4, 0);
      packet.writeUInt8(0, 1);
      packet.write(code, 12, 'latin1');
    });
    t.equal(await ask(server), 'refusal', code);
  }
});

t.test('nobody there, and nobody who says so', async (t) => {
  const hole = await blackHole(t);
  const begun = performance.now();
  t.equal(await ask(hole, PATIENCE_MS), undefined);
  t.ok(performance.now() - begun >= PATIENCE_MS - 5);
  t.equal(hole.asked(), 1);
  // The machine says at once that nobody listens at the port.
  const closed = '127.0.0.1:9';
  t.equal(await askTime(closed, { timeoutMs: 60_000, now: Date.now }), undefined);
  // No address at all.
  t.equal(await askTime('no-such-host.invalid', { timeoutMs: 30_000, now: Date.now }), undefined);
});

t.test('names', async (t) => {
  const server = await timeServer(t);
  const [, port] = server.place.split(':');
  const lookups: string[] = [];
  const resolve = async (host: string) => {
    lookups.push(host);
    return { address: '127.0.0.1', family: 4 };
  };
  const asking = { timeoutMs: PATIENCE_MS, now: Date.now, resolve };
  const place = `time.example.org:${port}`;

  await t.test('a silent name server holds nothing up', async (t) => {
    const hole = await blackHole(t);
    for (const timeout of [60_000, 50]) {
      const names = new Resolver({ timeout, tries: 1 });
      names.setServers([hole.place]);
      const before = hole.asked();
      const begun = performance.now();
      t.equal(await askTime(place, { ...asking, timeoutMs: 1000, names }), undefined);
      t.ok(hole.asked() > before, 'it was asked');
      t.ok(performance.now() - begun < 10_000);
    }
    // What the end of the question cancels is settled a moment later.
    await sleep(50);
    t.same(lookups, [], 'the resolver of the system was not asked, which would hold a thread');
  });

  await t.test('the system knows names that name servers do not know', async (t) => {
    const names = {
      resolve4: () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
      cancel: () => undefined,
    } as unknown as Resolver;
    const reply = await askTime(place, { ...asking, timeoutMs: 5000, names });
    t.equal(typeof reply, 'object');
    t.same(lookups, ['time.example.org']);
  });
});

t.test('who asked may give up', async (t) => {
  const hole = await blackHole(t);
  const asking = { timeoutMs: 600_000, now: Date.now };
  const giveUp = new AbortController();
  const reply = askTime(hole.place, { ...asking, signal: giveUp.signal });
  giveUp.abort();
  t.equal(await reply, undefined);
  t.equal(await askTime(hole.place, { ...asking, signal: giveUp.signal }), undefined);
});
