/**
 * A compose file of the data service as it is shipped, on the engine of the tests. Only the images
 * are stand-ins, since there is no registry here.
 */
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { freePort } from '../../src/adapters/http/free-port.ts';
import { base58 } from '../../src/base/base58.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { configuredFamily } from '../../src/crypto/families.ts';
import { temporaryFolder } from '../system/e2e/dev-node.ts';
import { type Engine, sharedEngine } from './engine.ts';
import { whyNoBusybox } from './images.ts';
import { checkoutImage, haproxyImage, postgresImage, whyNoHaproxy } from './service-images.ts';

export interface ComposeProject {
  /** A command of compose, such as `up`; resolves to its output. */
  call(args: readonly string[], variables?: Readonly<Record<string, string>>): Promise<string>;
  /** Of the address before the servers. */
  readonly url: string;
}

export interface ComposeOptions {
  /** In configs/data-service. */
  readonly file: string;
  /** Of a node on this machine, which listens at all addresses. */
  readonly nodePort: number;
  /** The first three numbers of the addresses of its network: the node has a known one in it. */
  readonly network: string;
}

/** Of the one client that the servers know. */
export const KEY = 'a key of the test';

const CONFIGS = new URL('../../configs/data-service/', import.meta.url);
const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));

const run = promisify(execFile);
const compose = [['docker', 'compose'], ['docker-compose']].find(
  ([name = '', ...rest]) => spawnSync(name, [...rest, 'version']).status === 0,
);

/** The engine, or the reason why there is none for compose. */
export async function composeEngine(): Promise<Engine | string> {
  if (compose === undefined) return 'there is no compose (Debian: apt install docker-compose)';
  return whyNoHaproxy() ?? whyNoBusybox() ?? (await sharedEngine());
}

/** Its containers end with the test. */
export async function composeProject(
  t: Test,
  engine: Engine,
  { file, nodePort, network }: ComposeOptions,
): Promise<ComposeProject> {
  const override = join(temporaryFolder(t), 'override.yaml');
  const mount = { volumes: [`${CHECKOUT}:/opt/platform-node:ro`] };
  const text = JSON.stringify({
    services: { crawler: mount, server: mount, 'second-server': mount },
    networks: { default: { ipam: { config: [{ subnet: `${network}.0/24` }] } } },
  });
  writeFileSync(override, text);
  const [database, node, front] = [
    await postgresImage(engine),
    await checkoutImage(engine),
    await haproxyImage(engine),
  ];
  const port = await freePort('127.0.0.1', 0);
  const env = {
    ...process.env,
    DOCKER_HOST: engine.host,
    POSTGRES_IMAGE: database.image,
    NODE_IMAGE: node.image,
    HAPROXY_IMAGE: front.image,
    NODE_URL: `http://${network}.1:${nodePort}`,
    DATABASE_PASSWORD: 'secret',
    READER_PASSWORD: 'another secret',
    API_KEY_HASHES: base58.encode(configuredFamily(true).secureHash(utf8(KEY))),
    PORT: String(port),
  };
  const path = fileURLToPath(new URL(file, CONFIGS));
  const [program = '', ...first] = compose ?? [];
  const files = ['-p', `data-${process.pid}`, '-f', path, '-f', override];
  const call: ComposeProject['call'] = async (args, variables = {}) => {
    const all = [...first, ...files, ...args];
    const options = { env: { ...env, ...variables }, maxBuffer: 1 << 24 };
    const { stdout, stderr } = await run(program, all, options);
    return stdout + stderr;
  };
  t.teardown(() => call(['down', '--volumes', '--timeout', '5']).catch(() => undefined));
  return { call, url: `http://127.0.0.1:${port}` };
}

export interface ComposeAnswer {
  readonly status: number;
  /** The server that has answered. */
  readonly by: string | null;
  readonly height: number;
}

export async function askProject(url: string): Promise<ComposeAnswer> {
  const answer = await fetch(url, { headers: { 'x-api-key': KEY, connection: 'close' } });
  return {
    status: answer.status,
    by: answer.headers.get('x-served-by'),
    height: Number(answer.headers.get('x-height')),
  };
}

/** One server alone answers twenty requests of a key in a second. */
export const PACE_MS = 100;
const ASKED = 4;

/** Resolves to whether so many servers answer, all at this height. */
export async function isAtHeight(url: string, height: number, servers: number): Promise<boolean> {
  const answers = [];
  for (let i = 0; i < ASKED; i++) {
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    answers.push(await askProject(`${url}/transactions?limit=1`).catch(() => undefined));
  }
  const good = answers.every((one) => one?.status === 200 && one.height === height);
  return good && new Set(answers.map((one) => one?.by)).size === servers;
}
