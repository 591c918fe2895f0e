/** The time of day from several time servers, some of which are silent or wrong. */
import t, { type Test } from 'tap';
import { type NtpOptions, TimeSource } from '../../src/adapters/ntp.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { memoryLog } from '../node/memory-ports.ts';
import { blackHole, type TimeServer, timeServer } from './time-server.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const YEAR_MS = 365 * 24 * HOUR_MS;

const servers = (t: Test, count: number): Promise<TimeServer[]> =>
  Promise.all(Array.from({ length: count }, () => timeServer(t)));

function sourceOf(t: Test, asked: readonly TimeServer[], options: Partial<NtpOptions> = {}) {
  const log = memoryLog();
  const fatal: string[] = [];
  const source = new TimeSource(
    {
      servers: asked.map(({ place }) => place),
      requestTimeoutMs: 200,
      expirationMs: 50,
      fatalMs: 600_000,
      maxStepMs: 10_000,
      maxDeviationMs: HOUR_MS,
      ...options,
    },
    log,
    (why) => fatal.push(why),
  );
  source.start();
  t.teardown(() => source.stop());
  const isNearly = (expected: number): boolean => Math.abs(source.now() - expected) < 3000;
  const deviation = (): number => source.now() - Date.now();
  return { source, log, isNearly, deviation, fatal };
}

/** Resolves when this holds; the test's own time limit ends the wait. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Resolves when all of them have been asked so many times more. */
async function rounds(asked: readonly TimeServer[], count: number): Promise<void> {
  const wanted = asked.map((server) => server.asked() + count);
  // The last question of them belongs to a round that may not be judged yet.
  await until(() => asked.every((server, i) => server.asked() > wanted[i]!));
}

t.test('one lying server out of three moves nothing', async (t) => {
  const asked = await servers(t, 3);
  for (const lie of [YEAR_MS, -YEAR_MS, HOUR_MS]) {
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
  const { source, log, isNearly } = sourceOf(t, asked);
  t.notOk(await source.ready(20_000));
  t.match(source.trouble(), /1 of 2 time servers agree, which is no majority/);
  t.equal(log.of('ntp.disagreement').length, 1);
  t.ok(isNearly(Date.now()));
});

t.test('the majority is that of the configured servers', async (t) => {
  const [honest] = await servers(t, 1);
  const holes = await Promise.all([blackHole(t), blackHole(t)]);
  honest!.lie(5000);
  const { source, isNearly } = sourceOf(t, [honest!, ...holes]);
  t.notOk(await source.ready(20_000), 'one of three');
  t.match(source.trouble(), /1 of 3 time servers agree/);
  t.ok(isNearly(Date.now()));
  source.stop();
  // Nor is a server more of them where its name stands twice.
  const twice = sourceOf(t, [honest!, honest!, ...holes]);
  t.notOk(await twice.source.ready(20_000));
  t.match(twice.source.trouble(), /1 of 3 time servers agree/);
  twice.source.stop();
  const two = sourceOf(t, [honest!, (await servers(t, 1))[0]!, holes[0]!]);
  t.notOk(await two.source.ready(20_000), 'two that differ by five seconds');
  honest!.lie(0);
  await until(() => two.log.of('ntp.usable').length > 0);
  t.equal(two.source.trouble(), undefined, 'two of three');
});

t.test('while nobody answers, the clock of the machine serves, with one warning', async (t) => {
  const holes = await Promise.all([blackHole(t), blackHole(t)]);
  const options = { requestTimeoutMs: 50 };
  const { source, log, isNearly, fatal } = sourceOf(t, holes, options);
  t.notOk(await source.ready(20_000));
  t.equal(source.trouble(), 'no time server answers');
  t.ok(isNearly(Date.now()));
  t.ok(source.fresh(), 'blocks can be made');
  await rounds(holes, 3);
  t.equal(log.all().length, 1, 'one line');
  t.equal(log.of('ntp.silent').length, 1);
  t.same(fatal, []);
});

t.test('the first round decides, and nobody waits longer', async (t) => {
  const hole = await blackHole(t);
  const { source } = sourceOf(t, [hole], { requestTimeoutMs: 100 });
  const begun = performance.now();
  t.notOk(await source.ready(MINUTE_MS));
  t.ok(performance.now() - begun < 30_000);
  const patient = sourceOf(t, [hole], { requestTimeoutMs: MINUTE_MS });
  t.notOk(await patient.source.ready(100), 'or the time that the caller has');
});

t.test('the fatal timeout', async (t) => {
  await t.test('counts from the start where nobody answers', async (t) => {
    const hole = await blackHole(t);
    const { source, fatal } = sourceOf(t, [hole], { requestTimeoutMs: 100, fatalMs: 700 });
    await source.ready(20_000);
    t.ok(source.fresh());
    await until(() => fatal.length > 0);
    t.notOk(source.fresh());
    await rounds([hole], 3);
    t.same(fatal, ['no time server answers'], 'it is said once');
  });

  await t.test('counts from the last round that could be used', async (t) => {
    const [server] = await servers(t, 1);
    const { source, fatal } = sourceOf(t, [server!], { fatalMs: 1500 });
    t.ok(await source.ready(20_000));
    await rounds([server!], 40);
    t.same(fatal, []);
    server!.lie(YEAR_MS);
    await until(() => fatal.length > 0);
    t.match(fatal[0], /ask for a step of \d+ ms, farther .* than ntp\.max-deviation/);
  });

  await t.test('leaves time for several rounds, whatever the others are', async (t) => {
    const [honest, other] = await servers(t, 2);
    const hole = await blackHole(t);
    const times = { requestTimeoutMs: HOUR_MS, expirationMs: HOUR_MS, fatalMs: 2000 };
    const { source, fatal } = sourceOf(t, [honest!, other!, hole], times);
    t.ok(await source.ready(20_000));
    await rounds([honest!], 5);
    t.same(fatal, []);
  });
});

t.test('a large step is refused, and a later right answer is taken', async (t) => {
  const [server] = await servers(t, 1);
  const { source, log, isNearly } = sourceOf(t, [server!]);
  t.ok(await source.ready(20_000));
  server!.lie(30 * MINUTE_MS);
  await rounds([server!], 4);
  t.equal(log.of('ntp.step-refused').length, 1);
  t.ok(isNearly(Date.now()));
  server!.lie(8000);
  await until(() => isNearly(Date.now() + 8000));
  t.equal(log.of('ntp.usable').length, 1);
  t.ok(systemClock(source).now() > Date.now() + 5000, 'a step within the bound is taken at once');
  server!.lie(0);
  await until(() => isNearly(Date.now()));
});

t.test('what three servers say three times running is taken', async (t) => {
  const asked = await servers(t, 4);
  for (const server of asked.slice(1)) server.lie(-30 * MINUTE_MS);
  const { log, isNearly, source } = sourceOf(t, asked);
  t.notOk(await source.ready(20_000), 'not at once');
  await until(() => isNearly(Date.now() - 30 * MINUTE_MS));
  t.ok(asked[1]!.asked() >= 3, 'the clock of this machine is the one that is wrong');
  t.equal(log.of('ntp.step-refused').length, 1);
});

t.test('all servers together do not walk the clock away', async (t) => {
  const asked = await servers(t, 4);
  const maxDeviationMs = MINUTE_MS;
  const { source, log, deviation } = sourceOf(t, asked, { maxDeviationMs, expirationMs: 20 });
  t.ok(await source.ready(20_000));
  // Always a little more than the node's own time, so that each single step is within its bound.
  for (const direction of [1, -1]) {
    const before = log.of('ntp.too-far').length;
    let most = 0;
    while (log.of('ntp.too-far').length === before) {
      const ahead = deviation() + direction * 9000;
      for (const server of asked) server.lie(ahead);
      await rounds(asked, 1);
      most = Math.max(most, Math.abs(deviation()));
    }
    t.ok(most > maxDeviationMs - 10_000, `it went to ${most}`);
    t.ok(most <= maxDeviationMs + 1000, `and no farther: ${most}`);
    // One step at once, too, and however often they say so.
    for (const server of asked) server.lie(direction * YEAR_MS);
    await rounds(asked, 5);
    t.ok(Math.abs(deviation()) <= maxDeviationMs + 1000);
    for (const server of asked) server.lie(0);
    await until(() => Math.abs(deviation()) < 3000);
  }
});

t.test('a server that wants no questions is left alone', async (t) => {
  const [first, second, refusing] = await servers(t, 3);
  refusing!.answer((packet) => {
    packet.writeUInt8(0xe4, 0);
    packet.writeUInt8(0, 1);
    packet.write('RATE', 12, 'latin1');
  });
  const { source } = sourceOf(t, [first!, second!, refusing!]);
  t.ok(await source.ready(20_000));
  await rounds([first!, second!], 5);
  t.equal(refusing!.asked(), 1);
});
