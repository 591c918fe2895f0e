import t, { type Test } from 'tap';
import { type NtpOptions, ntpSource } from '../../src/adapters/ntp.ts';
import { askTime } from '../../src/adapters/ntp-question.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { memoryLog } from '../node/memory-ports.ts';
import { type TimeServer, timeServer } from './time-server.ts';

const YEAR_MS = 365 * 86_400_000;

const servers = (t: Test, count: number): Promise<TimeServer[]> =>
  Promise.all(Array.from({ length: count }, () => timeServer(t)));

function sourceOf(t: Test, asked: readonly TimeServer[], options: Partial<NtpOptions> = {}) {
  const log = memoryLog();
  const source = ntpSource(
    {
      servers: asked.map(({ place }) => place),
      requestTimeoutMs: 200,
      expirationMs: 50,
      fatalMs: 60_000,
      maxStepMs: 10_000,
      ...options,
    },
    log,
  );
  t.teardown(source.stop);
  const isNearly = (expected: number): boolean => Math.abs(source.now() - expected) < 3000;
  return { source, log, isNearly };
}

/** Resolves when the event has been logged so many times more. */
async function logged(log: ReturnType<typeof memoryLog>, event: string, times = 1): Promise<void> {
  const count = () => log.of(event).length;
  const wanted = count() + times;
  while (count() < wanted) await new Promise((resolve) => setTimeout(resolve, 10));
}

t.test('an answer that cannot be right counts as none', async (t) => {
  const [server] = await servers(t, 1);
  const ask = () => askTime(server!.place, 2000, Date.now);
  t.ok(await ask());
  for (const [from, to] of [
    [-YEAR_MS, YEAR_MS],
    [0, 10_000],
    [10_000, 0],
  ] as const) {
    server!.lie(from, to);
    t.equal(await ask(), undefined, `received ${from}, sent ${to}`);
  }
  server!.lie(0);
  for (const [why, byte, value] of [
    ['no server', 0, 0x23],
    ['without time itself', 0, 0xe4],
    ['a refusal', 1, 0],
    ['a stratum that does not exist', 1, 16],
  ] as const) {
    server!.answer((packet) => void packet.writeUInt8(value, byte));
    t.equal(await ask(), undefined, why);
  }
});

t.test('one lying server out of three moves nothing', async (t) => {
  const asked = await servers(t, 3);
  for (const lie of [YEAR_MS, -YEAR_MS, 3_600_000]) {
    asked[0]!.lie(lie);
    const { source, isNearly } = sourceOf(t, asked);
    t.ok(await source.ready(20_000));
    t.ok(isNearly(Date.now()), String(lie));
    source.stop();
  }
  // Negative round trips used to win as the shortest ones.
  asked[0]!.lie(-YEAR_MS, YEAR_MS);
  const { source, isNearly } = sourceOf(t, asked);
  t.ok(await source.ready(20_000));
  t.ok(isNearly(Date.now()));
});

t.test('servers that contradict each other leave the clock alone', async (t) => {
  const asked = await servers(t, 2);
  asked[1]!.lie(5000);
  const { source, log, isNearly } = sourceOf(t, asked, { fatalMs: 0 });
  await logged(log, 'ntp.disagreement');
  t.ok(isNearly(Date.now()));
  t.notOk(source.fresh());
});

t.test('a large step is refused, and a later right answer is taken', async (t) => {
  const [server] = await servers(t, 1);
  const { source, log, isNearly } = sourceOf(t, [server!]);
  t.ok(await source.ready(20_000));
  server!.lie(YEAR_MS);
  await logged(log, 'ntp.step-refused', 4);
  t.ok(isNearly(Date.now()));
  server!.lie(8000);
  while (!isNearly(Date.now() + 8000)) await new Promise((resolve) => setTimeout(resolve, 10));
  t.ok(systemClock(source).now() > Date.now() + 5000, 'a step within the bound is taken at once');
  server!.lie(0);
  while (!isNearly(Date.now())) await new Promise((resolve) => setTimeout(resolve, 10));
});

t.test('what three servers say three times running is taken', async (t) => {
  const asked = await servers(t, 4);
  for (const server of asked.slice(1)) server.lie(-YEAR_MS);
  const { source, log, isNearly } = sourceOf(t, asked);
  t.ok(await source.ready(20_000), 'the clock of this machine is the one that is wrong');
  t.ok(isNearly(Date.now() - YEAR_MS));
  t.ok(log.of('ntp.step-refused').length >= 2);
});
