/** The machine sets a limit for all containers together, those included that are being removed. */
import t from 'tap';
import { capacityOf } from '../../../src/adapters/containers/capacity.ts';
import { contractLimits } from '../../../src/base/limits/contract-limits.ts';
import type { ContractImage } from '../../../src/base/ports/containers.ts';
import { containersWith, engineJson } from '../../containers/api.ts';
import { sharedEngine } from '../../containers/engine.ts';
import { simpleImage, whyNoBusybox } from '../../containers/images.ts';
import { leftOut } from '../../left-out.ts';
import { type FakeAnswer, fakeEngine, IMAGE_ID, says, saysText, silence } from './fake-engine.ts';
import { CREATOR, called, opened, passingClock, pause, prepared, until } from './opened.ts';

const GIB = 1024 ** 3;
const STAY_MS = contractLimits.stay.value;
const START_TURN_MS = contractLimits.startTurn.value;

t.test('of a machine', async (t) => {
  const capacity = (memoryGib: number, processors: number, memoryMb = 512, cpus = 1) =>
    capacityOf({ memoryBytes: memoryGib * GIB, processors }, { memoryMb, cpus });
  t.same(capacity(64, 16), { containers: 32, starts: 8, cpuShares: 32, cpus: 1 });
  t.same(
    capacity(4, 16),
    { containers: 4, starts: 8, cpuShares: 256, cpus: 1 },
    'half of the memory',
  );
  t.same(
    capacity(64, 2),
    { containers: 16, starts: 1, cpuShares: 64, cpus: 1 },
    '8 for a processor',
  );
  t.same(capacity(64, 2, 512, 4), { containers: 8, starts: 1, cpuShares: 128, cpus: 2 });
  t.same(
    capacity(0.1, 1, 512),
    { containers: 1, starts: 1, cpuShares: 1024, cpus: 1 },
    'one at least',
  );
});

const SMALL = says({ MemTotal: 2 * 64 * 1024 ** 2 * 2, NCPU: 4 });
const names = ['a', 'b', 'c'].map((image) => ({ image, imageHash: IMAGE_ID }));
const [a, b, c] = names as [(typeof names)[0], (typeof names)[0], (typeof names)[0]];
const NAMED = says({
  ...{ Id: `sha256:${IMAGE_ID}`, Size: 1000, Config: {} },
  RepoTags: names.map(({ image }) => `${image}:latest`),
});

const MANY: readonly ContractImage[] = Array.from({ length: 8 }, (_, i) => ({
  image: `many${i}`,
  imageHash: IMAGE_ID,
}));
const NAMED_MANY = says({
  ...{ Id: `sha256:${IMAGE_ID}`, Size: 1000, Config: {} },
  RepoTags: [...names, ...MANY].map(({ image }) => `${image}:latest`),
});

t.test('containers that are being removed count', async (t) => {
  const engine = await fakeEngine(t);
  engine.answer(/^GET \/info/, SMALL);
  engine.answer(/^GET \/images\//, NAMED);
  const created = () => engine.calls.filter((call) => call.startsWith('POST /containers/create'));
  const removed = () => engine.calls.filter((call) => call.startsWith('DELETE /containers/'));
  const { containers } = await opened(t, engine);
  let finish = (): void => {};
  const slowly: FakeAnswer = (response, request) => {
    finish = () => says({})(response, request);
  };
  engine.answer(/^DELETE \/containers\//, slowly);
  for (const image of [a, b]) t.same(await prepared(containers, image), { kind: 'ready' });
  t.equal(created().length, 2);
  t.same(containers.prepare(c, 1, 'another'), { kind: 'starting' });
  await until(() => removed().length === 1);
  for (let i = 0; i < 20; i++) {
    t.same(containers.prepare(c, 1, 'another'), { kind: 'starting' });
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(removed().length, 1, 'one makes room, and not all');
  t.equal(created().length, 2, 'the third does not begin before the other is gone');
  finish();
  t.same(await prepared(containers, c, 1, 'another'), { kind: 'ready' });
  t.equal(created().length, 3);
  engine.answer(/^DELETE \/containers\//, says({}));
});

t.test('what the engine does not remove counts until the strays are gone', async (t) => {
  const engine = await fakeEngine(t);
  engine.answer(/^GET \/info/, says({ MemTotal: 2 * 64 * 1024 ** 2, NCPU: 4 }));
  engine.answer(/^GET \/images\//, NAMED);
  const { containers, log } = await opened(t, engine, { removeAfterMs: 3_600_000 });
  t.same(await prepared(containers, a), { kind: 'ready' });
  engine.answer(/^DELETE \/containers\//, says({ message: 'busy' }, 500));
  containers.release(a);
  await until(() => log.of('container.not-removed').length > 0);
  for (let i = 0; i < 20; i++) {
    t.same(containers.prepare(b, 1, CREATOR), { kind: 'starting' });
    await new Promise((resolve) => setImmediate(resolve));
  }
  const created = engine.calls.filter((call) => call.startsWith('POST /containers/create'));
  t.equal(created.length, 1);
  engine.answer(/^DELETE \/containers\//, says({}));
});

t.test('a search for an image takes no room', async (t) => {
  const engine = await fakeEngine(t);
  engine.answer(/^GET \/info/, SMALL);
  engine.answer(/^GET \/images\//, NAMED);
  const { containers } = await opened(t, engine);
  t.same(await prepared(containers, a), { kind: 'ready' });
  engine.answer(/^GET \/images\//, silence);
  for (let i = 0; i < 10; i++) {
    containers.prepare({ image: `slow${i}`, imageHash: IMAGE_ID }, 1, CREATOR);
  }
  await until(() => engine.calls.filter((call) => call.startsWith('GET /images/')).length > 10);
  engine.answer(/^GET \/images\//, NAMED);
  t.same(await prepared(containers, b), { kind: 'ready' });
  engine.answer(/^GET \/images\//, silence);
  t.same(containers.prepare(c, 1, CREATOR), { kind: 'starting' });
  for (const image of [a, b]) {
    t.same(containers.prepare(image, 1, CREATOR), { kind: 'ready' }, 'and evicts nothing');
  }
});

t.test('containers that never get ready leave room for those of another creator', async (t) => {
  const engine = await fakeEngine(t);
  // Of 16 processors, so that few starts at a time do not leave the room.
  engine.answer(/^GET \/info/, says({ MemTotal: 2 * 4 * 64 * 1024 ** 2, NCPU: 16 }));
  engine.answer(/^GET \/images\//, NAMED_MANY);
  const { containers } = await opened(t, engine);
  t.same(await prepared(containers, a, 1, 'good'), { kind: 'ready' });
  engine.answer(/^POST \/containers\/\w+\/start/, silence);
  const created = () => engine.calls.filter((call) => call.startsWith('POST /containers/create'));
  const ask = async (): Promise<void> => {
    for (const image of MANY) containers.prepare(image, 1, 'hostile');
    await new Promise((resolve) => setImmediate(resolve));
  };
  while (created().length < 3) await ask();
  for (let i = 0; i < 50; i++) await ask();
  t.equal(created().length, 3, 'one place stays free');
  t.same(containers.prepare(a, 1, 'good'), { kind: 'ready' }, 'what was there is there');
  engine.answer(/^POST \/containers\/\w+\/start/, saysText('', 204));
  t.same(await prepared(containers, b, 1, 'good'), { kind: 'ready' });
});

t.test('who has most gives way, whoever was used last', async (t) => {
  const engine = await fakeEngine(t);
  engine.answer(/^GET \/info/, says({ MemTotal: 2 * 5 * 64 * 1024 ** 2, NCPU: 4 }));
  engine.answer(/^GET \/images\//, NAMED_MANY);
  const { clock, pass } = passingClock();
  const { containers } = await opened(t, engine, {}, { clock });
  const isReady = (image: ContractImage, creator: string): boolean =>
    containers.prepare(image, 1, creator).kind === 'ready';
  t.same(await prepared(containers, a, 1, 'good'), { kind: 'ready' });
  const [first, more] = [MANY.slice(0, 3), MANY.slice(3, 5)];
  for (const image of first) await prepared(containers, image, 1, 'hostile');
  t.ok(isReady(a, 'hostile'), 'anybody may use the image');
  t.ok(first.every((image) => isReady(image, 'hostile')));
  for (const image of more) t.notOk(isReady(image, 'hostile'));
  t.ok(
    first.every((image) => isReady(image, 'hostile')),
    'not at once to its own creator',
  );
  pass(STAY_MS);
  for (const image of more) await prepared(containers, image, 1, 'hostile');
  t.ok(isReady(a, 'good'), 'the oldest, but that of another');

  const left = [...first.slice(2), ...more];
  t.ok(left.every((image) => isReady(image, 'hostile')));
  for (const image of [b, c]) {
    t.same(await prepared(containers, image, 1, 'new'), { kind: 'ready' });
  }
  t.ok(isReady(a, 'good'), 'the oldest, but the only one');
});

t.test('starts take turns', async (t) => {
  const engine = await fakeEngine(t);
  engine.answer(/^GET \/info/, says({ MemTotal: 64 * GIB, NCPU: 2 }));
  engine.answer(/^GET \/images\//, NAMED_MANY);
  const { clock, pass } = passingClock(START_TURN_MS);
  const { containers } = await opened(t, engine, {}, { clock });
  const waiting: (() => void)[] = [];
  engine.answer(/^POST \/containers\/\w+\/start/, (response, request) => {
    waiting.push(() => saysText('', 204)(response, request));
  });
  for (const image of MANY) containers.prepare(image, 1, 'hostile');
  await until(() => waiting.length === 1);
  containers.prepare(a, 1, 'good');
  await pause(100);
  t.equal(waiting.length, 1, 'one at a time');
  for (const count of [2, 3]) {
    waiting[count - 2]!();
    await until(() => waiting.length === count);
  }
  waiting[2]!();
  t.same(await prepared(containers, a, 1, 'good'), { kind: 'ready' }, 'creators in turn');
  await until(() => waiting.length === 4);
  // A slow one holds up nobody for long.
  pass(START_TURN_MS);
  await until(() => waiting.length === 5);
  engine.answer(/^POST \/containers\/\w+\/start/, saysText('', 204));
  for (const answer of waiting.slice(3)) answer();
});

const engine = await sharedEngine();
const reason = typeof engine === 'string' ? engine : whyNoBusybox();
const skip = reason !== undefined && leftOut(reason);

t.test('a container weighs little, in the group of the operator', { skip }, async (t) => {
  if (typeof engine === 'string') return;
  const image = await simpleImage(engine, '#!/bin/sh\neval "$TX"\n');
  const limits = { memoryMb: 64, memorySwapMb: 0, cpus: 1, pids: 32 };
  const cgroupParent = '/platform-node-test';
  const { containers, label } = await opened(t, engine, { limits: { ...limits, cgroupParent } });
  t.match(await called(containers, image, { json: 'true' }), { kind: 'success' });
  const [{ Id } = { Id: '' }] = await containersWith(engine.socketPath, label);
  const { MemTotal, NCPU } = await engineJson<{ MemTotal: number; NCPU: number }>(
    engine.socketPath,
    '/info',
  );
  const { cpuShares } = capacityOf({ memoryBytes: MemTotal, processors: NCPU }, limits);
  t.match(await engineJson(engine.socketPath, `/containers/${Id}/json`), {
    HostConfig: { CpuShares: cpuShares, CgroupParent: cgroupParent, Memory: 64 * 1024 * 1024 },
  });
});

t.test(
  'many images that are missing: each failure is told, few questions run at once',
  async (t) => {
    const engine = await fakeEngine(t);
    let [asked, most, answered] = [0, 0, 0];
    const missing: FakeAnswer = (response, request) => {
      most = Math.max(most, ++asked);
      setImmediate(() => {
        asked--;
        answered++;
        says({ message: 'no such image' }, 404)(response, request);
      });
    };
    engine.answer(/^GET \/images\//, missing);
    const { containers } = await opened(t, engine, { removeAfterMs: 3_600_000 });
    const ask = (i: number): string =>
      containers.prepare({ image: `missing${i}`, imageHash: IMAGE_ID }, 1, 'hostile').kind;
    for (let i = 0; i < 1_000; i++) ask(i);
    await until(() => answered >= 2_000);
    t.ok(most <= 16, `${most} at once`);
    t.equal(ask(5_000), 'starting');
    engine.answer(/^GET \/images\//, NAMED);
    t.same(await prepared(containers, a, 1, 'good'), { kind: 'ready' }, 'another creator has room');
    t.notOk(
      engine.calls.some((call) => call.includes('missing5000')),
      'it waits',
    );

    engine.answer(/^GET \/images\//, missing);
    let waiting = Array.from({ length: 1_200 }, (_, i) => i);
    await until(() => {
      const some = waiting.splice(0, 20);
      waiting = [...waiting, ...some.filter((i) => ask(i) === 'starting')];
      return waiting.length === 0;
    }, 40_000);
    t.same(waiting, [], 'all are told, however few ask at a time');
    t.same(containers.prepare(a, 1, 'good'), { kind: 'ready' });
  },
);
