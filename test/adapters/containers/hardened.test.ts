/** What a contract cannot do to the machine, with real containers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { containersWith, engineJson } from '../../containers/api.ts';
import { sharedEngine } from '../../containers/engine.ts';
import { simpleImage, whyNoBusybox } from '../../containers/images.ts';
import { leftOut } from '../../left-out.ts';
import { called, opened, until } from './opened.ts';

const engine = await sharedEngine();
const reason = typeof engine === 'string' ? engine : whyNoBusybox();
const skip = reason !== undefined && leftOut(reason);

/** The transaction is the script, and its output is the message of an error. */
const SCRIPT = '#!/bin/sh\n(eval "$TX") 2>&1 | tr "\\n" " "\nexit 3\n';

t.test('a container has no more than it needs', { skip }, async (t) => {
  if (typeof engine === 'string') return;
  const image = await simpleImage(engine, SCRIPT, { lines: ['VOLUME /data', 'USER root'] });
  const { containers, label } = await opened(t, engine);
  const says = async (json: string): Promise<string> => {
    const outcome = await called(containers, image, { json });
    return outcome.kind === 'error' ? outcome.message : JSON.stringify(outcome);
  };
  t.equal(await says('id -u; id -g'), '10001 10001');
  t.match(
    await says('sed -n /^Cap/p /proc/self/status'),
    /^CapInh:\s+0+ CapPrm:\s+0+ CapEff:\s+0+ /,
  );
  t.match(await says('sed -n /^NoNewPrivs/p /proc/self/status'), /1$/);
  t.match(await says('sed -n /^Seccomp:/p /proc/self/status'), /2$/, 'system calls are filtered');
  t.match(await says('echo x > /x'), /Read-only file system/);
  t.match(await says('echo x > /run.sh'), /Read-only|denied/);
  for (const folder of ['/tmp', '/dev/shm', '/data']) {
    const write = (mb: number) =>
      `dd if=/dev/zero of=${folder}/x bs=1M count=${mb}; rm -f ${folder}/x`;
    t.notMatch(await says(write(10)), /No space/, `${folder} can be written`);
    t.match(await says(write(17)), /No space left/, `${folder} ends`);
    t.match(
      await says(`cp /bin/busybox ${folder}/sh; ${folder}/sh true; rm -f ${folder}/sh`),
      /denied|not found/,
    );
  }
  t.equal(await says('ls /sys/class/net'), 'lo');
  t.match(await says('echo | nc -w 2 192.0.2.1 80'), /unreachable/);
  t.match(await says('cat /dev/sda /dev/mem'), /No such file/);
  t.match(await says('ulimit -n'), /^1024$/);
  const [{ Id } = { Id: '' }] = await containersWith(engine.socketPath, label);
  const { Mounts } = await engineJson<{ Mounts: { Type: string }[] }>(
    engine.socketPath,
    `/containers/${Id}/json`,
  );
  t.notOk(
    Mounts.some(({ Type }) => Type === 'volume'),
    'volumes of the image are no volumes',
  );
});

t.test('the user of an image stays', { skip }, async (t) => {
  if (typeof engine === 'string') return;
  const image = await simpleImage(engine, SCRIPT, { lines: ['USER 1234:99'] });
  const { containers } = await opened(t, engine);
  t.match(await called(containers, image, { json: 'id -u; id -g' }), { message: '1234 99' });
});

t.test('a memory bomb and a fork bomb', { skip }, async (t) => {
  if (typeof engine === 'string') return;
  const image = await simpleImage(engine, '#!/bin/sh\neval "$TX"\n');
  const { containers } = await opened(t, engine, { executionMs: 15_000 });
  const call = (json: string) => called(containers, image, { json });
  const works = () => until(async () => (await call('true')).kind === 'success', 60_000);

  t.strictSame(await call('head -c 300000000 /dev/zero | tr "\\0" x | sed s/x/y/ > /dev/null'), {
    kind: 'error',
    code: 137,
    message: "Contract process was failed with code '137': ",
  });
  await works();
  const bombed = await call('bomb() { bomb | bomb & }; bomb; sleep 1; exit 7');
  t.not(bombed.kind, 'success');
  await works();
});

t.test('processes that a call leaves fail no other', { skip }, async (t) => {
  if (typeof engine === 'string') return;
  const image = await simpleImage(engine, '#!/bin/sh\neval "$TX"\n');
  const limits = { memoryMb: 256, memorySwapMb: 0, cpus: 1, pids: 40, cgroupParent: undefined };
  const { containers, label } = await opened(t, engine, { limits, executionMs: 15_000 });
  const call = (json: string) => called(containers, image, { json });
  const leave = (count: number, code: number) =>
    call(`for i in $(seq ${count}); do (sleep 1000 >/dev/null 2>&1 &); done; exit ${code}`);
  const id = async () => (await containersWith(engine.socketPath, label))[0]?.Id;
  const filled = {
    kind: 'failure',
    message: 'Processes that calls have left fill the container',
    recoverable: true,
    system: false,
  };

  t.match(await leave(5, 7), { kind: 'error', code: 7 }, "a few are in nobody's way");
  const first = await id();
  t.match(await leave(27, 0), { kind: 'success' });
  t.equal(await id(), first, 'what succeeds is not asked for them');
  t.match(await call('exit 3'), { kind: 'error', code: 3 }, 'nor what the contract refuses');
  t.match(await call('exit 7'), filled);
  t.match(await call('exit 7'), { kind: 'error', code: 7 }, 'another container');
  t.not(await id(), first);
  const bomb = 'for i in $(seq 100); do sleep 1000 >/dev/null 2>&1 & done';
  t.match(await call(bomb), filled, 'its own ones count, too');
  t.match(await call('true'), { kind: 'success' });
});

t.test('a call that fails beside others ends none of them', { skip }, async (t) => {
  if (typeof engine === 'string') return;
  const image = await simpleImage(engine, '#!/bin/sh\neval "$TX"\n');
  const limits = { memoryMb: 256, memorySwapMb: 0, cpus: 1, pids: 40, cgroupParent: undefined };
  const changes = { limits, perContainerMax: 10, executionMs: 15_000 };
  const { containers, label } = await opened(t, engine, changes);
  const call = (json: string) => called(containers, image, { json });
  t.match(await call('true'), { kind: 'success' });
  const id = async () => (await containersWith(engine.socketPath, label))[0]?.Id;
  const first = await id();
  const others = Array.from({ length: 9 }, () => call('sleep 3 & sleep 3 & sleep 3; true'));
  t.match(await call('sleep 1; exit 7'), {
    kind: 'failure',
    message: 'Processes of other calls fill the container',
    recoverable: true,
    system: false,
  });
  for (const other of await Promise.all(others)) t.match(other, { kind: 'success' });
  t.match(await call('exit 7'), { kind: 'error', code: 7 }, 'alone it says what it means');
  t.equal(await id(), first);
});

t.test('reads of the simple interface go to the node alone', { skip }, async (t) => {
  if (typeof engine === 'string') return;
  const asked: string[] = [];
  const from = new Set<string>();
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers['x-contract-api-token']}`);
    from.add(request.socket.remoteAddress ?? '');
    response.end('the state');
  });
  await new Promise<void>((resolve) => void server.listen(0, '0.0.0.0', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const image = await simpleImage(engine, SCRIPT);
  const { containers, label } = await opened(t, engine, { rest: { host: undefined, port } });
  const json =
    'wget -q -O - --header "X-Contract-Api-Token: $API_TOKEN" $NODE_API/internal/contracts; echo " $NODE:$NODE_PORT"';
  const outcome = await called(containers, image, { json, token: 'secret' });
  t.match(outcome, {
    kind: 'error',
    message: new RegExp(`^the state \\d+\\.\\d+\\.\\d+\\.\\d+:${port}$`),
  });
  t.strictSame(asked, ['/internal/contracts secret']);
  const [address = ''] = from;
  t.equal(containers.isOfOne(address), true, 'the address is its own');
  t.equal(containers.isOfOne(`::ffff:${address}`), true);
  t.equal(containers.isOfOne('127.0.0.1'), false);
  const networks = () =>
    engineJson<unknown[]>(
      engine.socketPath,
      `/networks?filters=${encodeURIComponent(JSON.stringify({ label: [label] }))}`,
    );
  t.equal((await networks()).length, 1);
  await containers.close();
  t.strictSame(await networks(), []);
  t.equal(containers.isOfOne(address), false, 'until its network is removed');
});
