/** The engine goes, hangs and returns, with a real one that only this file uses. */
import t from 'tap';
import { openContainers } from '../../../src/adapters/containers/containers.ts';
import { EngineAway } from '../../../src/adapters/containers/engine-client.ts';
import { systemClock, systemRandom } from '../../../src/adapters/system.ts';
import { containersWith } from '../../containers/api.ts';
import { whyNoDaemon } from '../../containers/daemon.ts';
import { privateEngine } from '../../containers/engine.ts';
import { simpleImage, whyNoBusybox } from '../../containers/images.ts';
import { leftOut } from '../../left-out.ts';
import { memoryLog } from '../../node/memory-ports.ts';
import {
  CREATOR,
  called,
  DEFAULTS,
  executionOf,
  NO_GRPC,
  opened,
  pause,
  prepared,
  until,
} from './opened.ts';

const reason = whyNoDaemon() ?? whyNoBusybox();
const skip = reason !== undefined && leftOut(reason);

t.test('an engine that stops, crashes and hangs in the middle', { skip }, async (t) => {
  const engine = await privateEngine(t);
  const image = await simpleImage(engine, '#!/bin/sh\neval "$TX"\n');
  const { containers, label, log } = await opened(t, engine, { executionMs: 2000 });
  const count = async () => (await containersWith(engine.socketPath, label)).length;
  const works = async (why: string) => {
    await until(() => containers.problem() === undefined);
    await until(async () => (await called(containers, image, { json: 'true' })).kind === 'success');
    t.equal(await count(), 1, why);
  };
  const interrupted = async (interrupt: () => Promise<void>) => {
    await prepared(containers, image);
    const running = containers.run(executionOf(image, { json: 'sleep 100' }));
    await pause(300);
    await interrupt();
    t.match(await running, { kind: 'failure', recoverable: true });
    await until(() => containers.problem() !== undefined);
    t.match(containers.problem(), /^the container engine at unix:.* does not answer: /);
    t.strictSame(containers.prepare(image, 1, CREATOR), { kind: 'starting' }, 'calls wait');
    t.match(await containers.run(executionOf(image)), { kind: 'failure', recoverable: true });
  };
  await works('it works');

  await interrupted(() => engine.stop());
  await engine.start();
  await works('after a stop');

  await interrupted(() => engine.kill());
  await engine.start();
  await works('after a crash');

  await interrupted(async () => engine.hang());
  engine.resume();
  await works('after a pause');
  t.ok(log.of('engine.away').length >= 3, 'the log says so, once each');
  t.ok(log.of('engine.away').length <= 4);

  engine.hang();
  const started = performance.now();
  await containers.close();
  t.ok(performance.now() - started < 7000, 'a hanging engine does not keep the node from ending');
  engine.resume();
});

t.test('an engine that has no addresses left', { skip }, async (t) => {
  const engine = await privateEngine(t, { addresses: '10.218.0.0/26' });
  const image = await simpleImage(engine, '#!/bin/sh\necho "[]"\n');
  const other = await simpleImage(engine, '#!/bin/sh\n\necho "[]"\n');
  const { containers, log } = await opened(t, engine, { allowNetAccess: true });
  t.same(await prepared(containers, image), { kind: 'ready' });
  const isTold = (): boolean => {
    t.same(containers.prepare(other, 1, CREATOR), { kind: 'starting' }, 'its calls wait');
    return log.of('engine.short').length > 1;
  };
  await until(isTold);
  t.match(log.of('engine.short')[0], { why: /address pool/, remedy: /default-address-pools/ });
  containers.release(image);
  t.same(await prepared(containers, other), { kind: 'ready' }, 'once there is one again');
});

t.test('a start without an engine', async (t) => {
  const deps = {
    clock: systemClock(undefined),
    random: systemRandom,
    log: memoryLog(),
    grpc: NO_GRPC,
  };
  const start = (host: string) =>
    openContainers(
      { ...DEFAULTS, nodeName: 'a node', engine: { host }, pulledImages: '/no/such/file' },
      deps,
    );
  await t.rejects(start('unix:///no/such/socket'), EngineAway);
  await t.rejects(start('tcp://127.0.0.1:1'), EngineAway);
  await t.rejects(start('tcp://192.0.2.1:2375'), { message: /docker-engine.tls/ });
  await t.rejects(start('ssh://somewhere'), { message: /unix:\/\/PATH/ });
});
