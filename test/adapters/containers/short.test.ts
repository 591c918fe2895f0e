/** An engine that lacks addresses or space, and authors who write what such an engine says. */
import t from 'tap';
import { roundLimits } from '../../../src/base/limits/round-limits.ts';
import { fakeEngine, IMAGE_ID, says } from './fake-engine.ts';
import { CREATOR, opened, passingClock, prepared, until } from './opened.ts';

const IMAGE = { image: 'a', imageHash: IMAGE_ID };
const START = /^POST \/containers\/\w+\/start/;
const NO_SPACE = 'mkdir /var/lib/docker/overlay2/1: no space left on device: unknown';
const PAUSE_MS_MAX = 60_000;
const known = says({
  ...{ Id: `sha256:${IMAGE_ID}`, Size: 1000, Config: {} },
  RepoTags: ['a:latest', 'b:latest', 'c:latest'],
});

t.test('a path that an author has chosen is no shortage', async (t) => {
  const engine = await fakeEngine(t);
  engine.answer(/^GET \/images\//, known);
  const { containers, log } = await opened(t, engine);
  for (const text of [
    'mkdir /proc/no space left on device: no such file or directory: unknown',
    'mkdir /proc/address pool: no such file or directory: unknown',
  ]) {
    engine.answer(START, says({ message: text }, 500));
    t.match(await prepared(containers, IMAGE), { kind: 'failure' }, text);
    containers.release(IMAGE);
  }
  t.same(log.of('engine.short'), []);
  engine.answer(START, says({ message: NO_SPACE }, 500));
  await until(() => {
    containers.prepare(IMAGE, 1, CREATOR);
    return log.of('engine.short').length > 0;
  });
});

t.test('a shortage that does not end is told', async (t) => {
  const engine = await fakeEngine(t);
  engine.answer(/^GET \/images\//, known);
  engine.answer(START, says({ message: NO_SPACE }, 500));
  const { clock, pass } = passingClock();
  const { containers, log } = await opened(t, engine, { removeAfterMs: 10 ** 9 }, { clock });
  const isShort = (times: number) =>
    until(() => {
      t.same(containers.prepare(IMAGE, 1, CREATOR), { kind: 'starting' });
      return log.of('engine.short').length >= times;
    });
  await isShort(1);
  pass(roundLimits.heldUp.value - PAUSE_MS_MAX);
  await isShort(2);
  pass(PAUSE_MS_MAX);
  t.match(await prepared(containers, IMAGE), { kind: 'failure', recoverable: true, system: true });
});

t.test('an idle container gives way where the engine has no more addresses', async (t) => {
  const engine = await fakeEngine(t);
  engine.answer(/^GET \/images\//, known);
  const { clock, pass } = passingClock();
  const { containers } = await opened(
    t,
    engine,
    { allowNetAccess: true, removeAfterMs: 10 ** 9 },
    { clock },
  );
  const [b, c] = ['b', 'c'].map((image) => ({ image, imageHash: IMAGE_ID }));
  engine.answer(/^POST \/networks\/create/, says({ Id: 'n' }, 201));
  engine.answer(
    /^GET \/networks\/\w/,
    says({ IPAM: { Config: [{ Gateway: '10.0.0.1', Subnet: '10.0.0.0/24' }] } }),
  );
  for (const image of [IMAGE, b!]) {
    t.same(await prepared(containers, image, 1, 'hostile'), { kind: 'ready' });
  }
  const ofHostile = engine.calls
    .filter((call) => call.startsWith('GET /networks/'))
    .map((call) => call.replace('GET', 'DELETE'));
  t.equal(ofHostile.length, 2);
  const isOneGone = (): boolean => engine.calls.some((call) => ofHostile.includes(call));
  engine.answer(/^POST \/networks\/create/, (response, request) => {
    const text = 'could not find an available, non-overlapping IPv4 address pool';
    const answer = isOneGone() ? says({ Id: 'n' }, 201) : says({ message: text }, 500);
    answer(response, request);
  });
  await until(() => {
    pass(100);
    return containers.prepare(c!, 1, 'good').kind === 'ready';
  });
});

t.test('a container that ends while its shell is looked for is not without one', async (t) => {
  const engine = await fakeEngine(t);
  engine.answer(/^GET \/images\//, known);
  engine.answer(/^GET \/exec\//, says({ ExitCode: 126, Running: false }));
  engine.answer(
    /^GET \/containers\/\w+\/json/,
    says({ State: { Running: false, ExitCode: 137, OOMKilled: false } }),
  );
  const { containers } = await opened(t, engine);
  t.match(await prepared(containers, IMAGE), { kind: 'failure', recoverable: true, system: false });
});
