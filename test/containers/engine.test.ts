import { existsSync } from 'node:fs';
import t from 'tap';
import { leftOut } from '../left-out.ts';
import { containersWith, engineCall, engineJson } from './api.ts';
import { whyNoDaemon } from './daemon.ts';
import { privateEngine, sharedEngine } from './engine.ts';
import { simpleImage, whyNoBusybox } from './images.ts';

const shared = await sharedEngine();
const skip =
  typeof shared === 'string'
    ? leftOut(shared)
    : ((r) => r !== undefined && leftOut(r))(whyNoBusybox());
const skipPrivate = ((reason) => reason !== undefined && leftOut(reason))(whyNoDaemon());

t.test('an image is built once', { skip }, async (t) => {
  if (typeof shared === 'string') return;
  const first = await simpleImage(shared, '#!/bin/sh\necho []\n');
  t.match(first, { image: /^platform-node-test\/simple:/, imageHash: /^[0-9a-f]{64}$/ });
  t.strictSame(await simpleImage(shared, '#!/bin/sh\necho []\n'), first);
});

t.test('an engine of its own stops and starts again', { skip: skipPrivate }, async (t) => {
  const engine = await privateEngine(t);
  const { image } = await simpleImage(engine, '#!/bin/sh\nexit 0\n');
  const { Id } = await engineJson<{ Id: string }>(engine.socketPath, '/containers/create', {
    method: 'POST',
    body: {
      Image: image,
      StopTimeout: 0,
      HostConfig: { NetworkMode: 'none' },
      Labels: { here: 'yes' },
    },
  });
  const { status, body } = await engineCall(engine.socketPath, `/containers/${Id}/start`, {
    method: 'POST',
  });
  body.resume();
  t.equal(status, 204);
  t.match(await containersWith(engine.socketPath, 'here'), [{ Id, State: 'running' }]);
  await engine.stop();
  await engine.start();
  t.match(await containersWith(engine.socketPath, undefined), [{ Id }], 'without a label');
  t.match(await containersWith(engine.socketPath, 'here'), [{ Id, State: 'exited' }]);
  await engine.kill();
  await engine.start();
  t.equal((await containersWith(engine.socketPath, 'here')).length, 1);
});

t.test('the bridges of its networks end with it', { skip: skipPrivate }, async (t) => {
  const ends: (() => Promise<void>)[] = [];
  const engine = await privateEngine({ teardown: (end) => void ends.push(end) });
  const { Id } = await engineJson<{ Id: string }>(engine.socketPath, '/networks/create', {
    method: 'POST',
    body: { Name: 'left-behind' },
  });
  const bridge = `/sys/class/net/br-${Id.slice(0, 12)}`;
  t.equal(existsSync(bridge), true);
  await engine.kill();
  for (const end of ends) await end();
  t.equal(existsSync(bridge), false);
});
