/** The image of the Dockerfile, on a base that is the small Debian of the test: a node runs in it. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, createReadStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { run } from '../../cli/run.ts';
import { engineCall, engineJson } from '../../containers/api.ts';
import type { Engine } from '../../containers/engine.ts';
import { temporaryFolder } from '../e2e/dev-node.ts';
import { eventually } from '../e2e/process.ts';
import { restOf } from '../e2e/rest.ts';
import { output, ROOT } from './programs.ts';

const UID = '10001';
const HOME = '/var/lib/platform-node';
const TAR = 'application/x-tar';

interface Inspected {
  readonly Config: {
    readonly User: string;
    readonly Volumes: object;
    readonly StopSignal: string;
    readonly Healthcheck: { readonly Test: readonly string[] };
  };
}
interface State {
  readonly State: {
    readonly Status: string;
    readonly ExitCode: number;
    readonly Health?: { readonly Status: string };
  };
}

export async function nodeInImage(
  t: Test,
  engine: Engine,
  root: string,
  deb: string,
): Promise<void> {
  const socket = engine.socketPath;
  const name = `platform-node-test/release-${process.pid}`;
  const base = `platform-node-test/debian-${process.pid}`;
  for (const image of [base, name]) {
    t.teardown(async () => {
      const { body } = await engineCall(socket, `/images/${image}?force=1`, { method: 'DELETE' });
      body.resume();
    });
  }
  await imported(socket, base, root);
  await built(t, socket, { name, base, deb });
  const { Config } = await engineJson<Inspected>(socket, `/images/${name}/json`);
  t.match(Config, { User: `${UID}:${UID}`, Volumes: { [HOME]: {} }, StopSignal: 'SIGTERM' });

  const { folder, restPort } = await memberFolder(t);
  const { Id } = await engineJson<{ Id: string }>(socket, '/containers/create', {
    method: 'POST',
    body: {
      Image: name,
      Cmd: ['start', `${HOME}/node.conf`],
      Env: [
        'PLATFORM_NODE_OWNER_PASSWORD_EMPTY=true',
        `REST_URL=http://127.0.0.1:${restPort}`,
        'NODE_NTP_SERVERS=[]',
      ],
      // Asked more often than every 30 s.
      Healthcheck: { ...Config.Healthcheck, Interval: 1e9, StartPeriod: 60e9, Timeout: 5e9 },
      HostConfig: { NetworkMode: 'host', Binds: [`${folder}:${HOME}`] },
    },
  });
  t.teardown(async () => {
    const { body } = await engineCall(socket, `/containers/${Id}?force=1&v=1`, {
      method: 'DELETE',
    });
    body.resume();
  });
  const act = async (action: string): Promise<void> => {
    const path = `/containers/${Id}/${action}`;
    const { status, body } = await engineCall(socket, path, { method: 'POST' });
    t.equal(status, 204, `${action} ${await text(body)}`);
  };
  const state = async () => (await engineJson<State>(socket, `/containers/${Id}/json`)).State;
  await act('start');
  await healthyNode(t, `http://127.0.0.1:${restPort}`, state).catch(async (cause: unknown) => {
    const { body } = await engineCall(socket, `/containers/${Id}/logs?stdout=1&stderr=1&tail=20`);
    t.comment(await text(body));
    throw cause;
  });
  const { Processes } = await engineJson<{ Processes: string[][] }>(
    socket,
    `/containers/${Id}/top?ps_args=-eo%20pid,uid`,
  );
  t.strictSame([...new Set(Processes.map(([, uid]) => uid))], [UID], 'nothing runs as root');
  await act('stop?t=60');
  t.match(await state(), { Status: 'exited', ExitCode: 0 }, 'it ends in good order');
}

async function healthyNode(t: Test, url: string, state: () => Promise<State['State']>) {
  const rest = restOf(url);
  await eventually('a node that is healthy', async () => {
    const { Status, Health } = await state();
    if (Status !== 'running') throw new Error(`the container is ${Status}`);
    return Health?.Status === 'healthy' || undefined;
  });
  t.equal((await rest.get('/health/live')).status, 200);
  await eventually('blocks', async () => (await rest.height()) > 2 || undefined);
}

/** The folder of the one member of a network, as the commands of the guide make it. */
async function memberFolder(t: Test): Promise<{ folder: string; restPort: number }> {
  const [peerPort, restPort] = (await freePorts(2)) as [number, number];
  const network = join(temporaryFolder(t), 'network');
  const folder = join(network, 'alpha');
  const org = `alpha=127.0.0.1:${peerPort}:${restPort}`;
  const request = join(folder, 'alpha.request.json');
  for (const args of [
    ['network', 'init', '--org', org, '--round', '500ms', '--out', network],
    ['network', 'join', folder, '--empty-passwords'],
    ['network', 'merge', network, request],
  ]) {
    const { code, stderr } = await run(args);
    t.equal(code, 0, `${args.join(' ')} ${stderr}`);
  }
  cpSync(join(network, 'genesis.conf'), join(folder, 'genesis.conf'));
  // `network join` names the folder, which in the container is another.
  const config = join(folder, 'node.conf');
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll(folder, HOME));
  await output('/', 'chown', ['-R', UID, network]);
  return { folder, restPort };
}

async function imported(socket: string, base: string, root: string): Promise<void> {
  const packing = spawn('tar', ['--create', '--directory', root, '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { status, body } = await engineCall(socket, `/images/create?fromSrc=-&repo=${base}`, {
    method: 'POST',
    pieces: packing.stdout,
    type: TAR,
  });
  const said = await text(body);
  if (status !== 200 || said.includes('"error"')) throw new Error(`import: ${status} ${said}`);
}

interface Build {
  readonly name: string;
  readonly base: string;
  readonly deb: string;
}

/** From what `docker build` would send: the Dockerfile and the package. */
async function built(t: Test, socket: string, { name, base, deb }: Build): Promise<void> {
  const context = temporaryFolder(t);
  mkdirSync(join(context, 'release'));
  cpSync(join(ROOT, 'Dockerfile'), join(context, 'Dockerfile'));
  cpSync(deb, join(context, 'release', basename(deb)));
  const archive = join(context, 'context.tar');
  execFileSync('tar', ['-cf', archive, '-C', context, 'Dockerfile', 'release']);
  const query = new URLSearchParams({
    t: name,
    rm: '1',
    buildargs: JSON.stringify({ BASE: base }),
  });
  const { body } = await engineCall(socket, `/build?${query}`, {
    method: 'POST',
    pieces: createReadStream(archive, { highWaterMark: 1024 * 1024 }),
    type: TAR,
  });
  const said = await text(body);
  if (said.includes('"error"')) throw new Error(`build: ${said.slice(-2000)}`);
}
