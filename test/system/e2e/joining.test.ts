/** docs/guide/joining.md and the files of configs/network, line by line, with real processes. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { run } from '../../cli/run.ts';
import { temporaryFolder } from './dev-node.ts';
import { COMMAND, eventually, type Scope, startProgram } from './process.ts';
import { Shell, shellBlocks } from './shell.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const guide = read('docs/guide/joining.md');
const MEMBERS = ['alpha', 'beta', 'gamma', 'delta'];
const PASSWORD = 'of every account';

t.setTimeout(300_000);

/** The shell blocks of a chapter, without the indentation of its list. */
function chapter(title: string): string[][] {
  const start = guide.indexOf(`\n## ${title}\n`);
  const text = guide.slice(start, guide.indexOf('\n## ', start + 1));
  if (start === -1) throw new Error(`there is no chapter ${title}`);
  return shellBlocks(text.replace(/^ {3}/gm, ''));
}

interface Key {
  readonly address: string;
  readonly publicKey: string;
}

/** One operator: a folder instead of the machine, and a shell on it. */
class Operator {
  readonly name: string;
  readonly dir: string;
  readonly shell: Shell;
  readonly peerPort: number;
  readonly restPort: number;
  readonly env: Record<string, string>;
  private readonly scope: Scope;
  private apiKeyHash = '';

  constructor(scope: Scope, name: string, ports: readonly [number, number]) {
    this.scope = scope;
    this.name = name;
    this.dir = temporaryFolder(scope);
    [this.peerPort, this.restPort] = ports;
    mkdirSync(join(this.dir, 'bin'));
    symlinkSync(COMMAND, join(this.dir, 'bin', 'platform-node'));
    this.env = {
      PATH: `${join(this.dir, 'bin')}:${process.env['PATH']}`,
      PLATFORM_NODE_OWNER_PASSWORD: PASSWORD,
      PLATFORM_NODE_URL: `http://127.0.0.1:${this.restPort}`,
    };
    this.shell = new Shell({ cwd: this.dir, env: this.env });
    scope.teardown(() => this.shell.end());
    const [accounts] = [...guide.matchAll(/```hocon\n(.*?)```/gs)].map(([, text]) => text!);
    writeFileSync(join(this.dir, 'wallet-password'), 'a password of the file');
    writeFileSync(join(this.dir, 'accounts.conf'), this.placed(accounts!));
  }

  /** The files of a machine are those of the folder here. */
  placed(text: string): string {
    return text
      .replaceAll('/var/lib/platform-node', this.dir)
      .replaceAll('/etc/platform-node', this.dir)
      .replaceAll('http://127.0.0.1:6862', `http://127.0.0.1:${this.restPort}`);
  }

  async follow(lines: readonly string[]): Promise<string> {
    let all = '';
    for (const line of lines) {
      const { code, output } = await this.shell.run(this.placed(line));
      if (code !== 0 || /"error"|command not found|Usage:/.test(output)) {
        throw new Error(`${this.name}: ${line}\n${output}`);
      }
      all += output;
    }
    return all;
  }

  async makeKeys(): Promise<Key> {
    const [lines] = chapter('Keys');
    const output = await this.follow(lines!);
    const said = (name: string) => new RegExp(`"${name}": ?"(\\w+)"`).exec(output)![1]!;
    this.apiKeyHash = said('apiKeyHash');
    await this.shell.run(`API_KEY=${said('apiKey')}`);
    return { address: said('address'), publicKey: said('publicKey') };
  }

  /** What an operator changes in the first part of the file. */
  configure(text: string, { address }: Key): void {
    const own = this.placed(text)
      .replace(/owner-address = "[^"]*"/, `owner-address = "${address}"`)
      .replace(/node-name = "[^"]*"/, `node-name = "${this.name}"`)
      .replace(/declared-address = "[^"]*"/, `declared-address = "127.0.0.1:${this.peerPort}"`)
      .replace(/api-key-hash = "[^"]*"/, `api-key-hash = "${this.apiKeyHash}"`)
      .replace('port = 6864', `port = ${this.peerPort}, bind-address = "127.0.0.1"`)
      .replace('port = 6862', `port = ${this.restPort}`);
    writeFileSync(join(this.dir, 'node.conf'), own);
  }

  start(line: string) {
    const words = line.split(' ');
    return startProgram(this.scope, COMMAND, words.slice(1), { cwd: this.dir, env: this.env });
  }
}

/** A file of configs/network for these members alone, filled in. */
function filled(text: string, members: ReadonlyMap<string, Key>, hosts: (name: string) => string) {
  const absent = MEMBERS.filter((name) => !members.has(name));
  const lines = text
    .split('\n')
    .filter((line) => !absent.some((name) => line.includes(` of ${name}>`)))
    .join('\n');
  return lines.replace(/<([^<>]+) of (\w+)>(:6864)?/g, (all, what: string, name: string) => {
    const key = members.get(name);
    if (key === undefined) return all;
    return { address: key.address, 'public key': key.publicKey, host: hosts(name) }[what] ?? all;
  });
}

t.test('the examples are refused as they stand, and say why', async (t) => {
  for (const name of ['poa', 'pos']) {
    const { code, stderr } = await run(['config', 'check', `${root}/configs/network/${name}.conf`]);
    t.equal(code, 1);
    t.match(stderr, '"<address of this node>"');
    t.match(stderr, '"<public key of alpha>"');
    t.match(stderr, '"<host of alpha>:6864"');
  }
});

t.test('all of both examples, filled in', async (t) => {
  for (const name of ['poa', 'pos']) {
    const keys = new Map<string, Key>();
    for (const member of MEMBERS) {
      const derived = await run(['keystore', 'derive', '--chain-id', 'T'], { input: member });
      keys.set(member, JSON.parse(derived.stdout) as Key);
    }
    const dir = temporaryFolder(t);
    const text = filled(read(`configs/network/${name}.conf`), keys, (host) => `${host}:6864`)
      .replace('<address of this node>', keys.get('alpha')!.address)
      .replaceAll('<name of this node>', 'alpha')
      .replaceAll('<host of this node>', 'alpha')
      .replace('<hash of the API key of this node>', keys.get('alpha')!.publicKey)
      .replaceAll('/etc/platform-node', dir)
      .replaceAll('/var/lib/platform-node', dir);
    t.notMatch(text, /^[^#]*<[^>]+>/m, 'every placeholder is filled in');
    const config = join(dir, 'node.conf');
    writeFileSync(config, text);
    writeFileSync(join(dir, 'wallet-password'), 'x');
    const offline = ['--set', 'ntp.servers=[]'];
    for (const words of [
      ['config', 'check'],
      ['genesis', 'sign'],
      ['genesis', 'verify'],
    ]) {
      const { code, stderr } = await run([...words, config, ...offline]);
      t.equal(code, 0, `${name}: ${words.join(' ')} ${stderr}`);
    }
  }
});

t.test('the guide, step by step', async (t) => {
  const ports = await freePorts(6);
  const operators = MEMBERS.slice(0, 3).map(
    (name, i) => new Operator(t, name, [ports[2 * i]!, ports[2 * i + 1]!]),
  );
  const [alpha, beta, gamma] = operators as [Operator, Operator, Operator];
  const hosts = (name: string): string =>
    `127.0.0.1:${operators.find((one) => one.name === name)!.peerPort}`;
  const keys = new Map([
    ['alpha', await alpha.makeKeys()],
    ['beta', await beta.makeKeys()],
  ]);

  const [sign, check, init, [start]] = chapter('Founding a network') as [
    ...[string[], string[], string[]],
    [string],
  ];
  const quick = filled(read('configs/network/poa.conf'), keys, hosts)
    .replace('"10000000 WEST"', '"5000000 WEST"')
    .replace('round-duration = 17s', 'round-duration = 900ms')
    .replace('sync-duration = 3s', 'sync-duration = 100ms')
    .replace(
      'ntp.fatal-timeout',
      'network.suspension-residence-time = 1s\n  ntp.servers = []\n  ntp.fatal-timeout',
    );
  alpha.configure(quick, keys.get('alpha')!);
  await alpha.follow(sign);
  const signed = readFileSync(join(alpha.dir, 'node.conf'), 'utf8');
  const passedOn = (to: Operator, key: Key): void =>
    to.configure(
      signed
        .replaceAll(alpha.dir, '/var/lib/platform-node')
        .replace(`port = ${alpha.peerPort}, bind-address = "127.0.0.1"`, 'port = 6864')
        .replace(`port = ${alpha.restPort}`, 'port = 6862'),
      key,
    );
  passedOn(beta, keys.get('beta')!);
  t.equal(await beta.follow(check.slice(0, 1)), await alpha.follow(check.slice(0, 1)));
  await beta.follow(check);
  const foreign = `--set privacy.owner-address=${keys.get('alpha')!.address}`;
  const { output } = await beta.shell.run(`platform-node doctor node.conf ${foreign}`);
  t.match(output, `owner ${keys.get('alpha')!.address} is not among 1 accounts`);
  for (const one of [alpha, beta]) await one.follow(init);
  const running = [alpha.start(start), beta.start(start)];
  for (const node of running) await node.line('stderr', /node\.started/);

  const [register, [recheck, startAgain], watch, permit] = chapter('Joining a network') as [
    string[],
    [string, string],
    string[],
    string[],
  ];
  const newcomer = await gamma.makeKeys();
  passedOn(gamma, newcomer);
  await gamma.follow([recheck]);
  const early = gamma.start(startAgain);
  t.equal((await early.exit).code, 77);
  t.match(early.stderr(), /Your node is probably not registered in the network/);
  t.match(early.stderr(), `Address: ${newcomer.address}; public key: ${newcomer.publicKey}`);

  const variables = [
    `export PLATFORM_NODE_API_KEY="$API_KEY" MANAGER=${keys.get('alpha')!.address}`,
    `NEWCOMER=${newcomer.address} NEWCOMER_KEY=${newcomer.publicKey}`,
  ];
  await alpha.follow([...variables, ...register]);
  const joined = gamma.start(startAgain);
  await joined.line('stderr', /node\.started/);
  await eventually('that it is ready', async () => {
    const output = await gamma.follow(watch).catch(() => '');
    return output.includes('"status":"ready"') ? output : undefined;
  });
  t.match(await alpha.follow(permit), /"roles":\[\{"role":"miner"/);
  await eventually('a block of the newcomer', async () => {
    const last = await fetch(`http://127.0.0.1:${beta.restPort}/blocks/last`);
    const { generator } = (await last.json()) as { generator: string };
    return generator === newcomer.address || undefined;
  });

  const [[role, registration]] = chapter('Leaving') as [[string, string]];
  await alpha.follow([role]);
  await eventually('that it votes no more', () =>
    alpha.follow([registration]).catch(({ message }: Error) => {
      if (!/votes/.test(message)) throw new Error(message);
      return undefined;
    }),
  );
  await eventually('the end of its connections', async () => {
    const { output } = await gamma.shell.run('platform-node node peers');
    return output.includes('"connected":[]') || /"peers":\[\]/.test(output) || undefined;
  });
  for (const node of [...running, joined]) {
    node.kill('SIGTERM');
    t.equal((await node.exit).code, 0);
  }
});

t.test('the guide names what is there', async (t) => {
  const links = [...guide.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, link]) => link!);
  t.ok(links.length >= 4);
  const folder = dirname(join(root, 'docs/guide/joining.md'));
  t.strictSame(
    links.filter((link) => !existsSync(join(folder, link))),
    [],
  );
  for (const event of ['peer.connected', 'block.appended', 'peer.refused', 'miner.no-quorum']) {
    t.match(read('docs/reference/observability.md'), `\`${event}\``);
  }
});

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks: Readonly<Record<string, unknown>>;
}

interface Service {
  readonly image: string;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly networks: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly healthcheck: { readonly test: readonly string[] };
  readonly stop_grace_period: string;
}

t.test('the compose file', async (t) => {
  const compose = parse(read('configs/network/compose.yaml'), { merge: true }) as Compose;
  t.strictSame(Object.keys(compose.services), MEMBERS);
  t.strictSame(Object.keys(compose.volumes), MEMBERS, 'a volume for each');
  const published = Object.values(compose.services).map(({ ports }) => ports[0]);
  t.equal(new Set(published).size, MEMBERS.length, 'ports of the machine are different');
  for (const [name, service] of Object.entries(compose.services)) {
    t.match(service, {
      image: 'platform-node',
      ports: [/^127\.0\.0\.1:\d+:6862$/],
      stop_grace_period: '60s',
      environment: {
        PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true',
        NODE_OWNER_ADDRESS: `\${${name.toUpperCase()}_ADDRESS:?}`,
        NODE_NETWORK_NODE_NAME: name,
        NODE_NETWORK_DECLARED_ADDRESS: `${name}:6864`,
      },
    });
    t.equal(service.volumes[0], `${name}:/var/lib/platform-node`, 'as the image declares it');
    t.strictSame(
      service.networks.filter((one) => !(one in compose.networks)),
      [],
    );
    const [, program, , script] = service.healthcheck.test;
    t.equal(program, 'node');
    t.match(script, '/health/ready?minPeers=1');
    const settings = Object.keys(service.environment).filter((key) => key.startsWith('NODE_'));
    const example = read('configs/example.conf').replace(/\s*\n\s*#\s*/g, ' ');
    for (const variable of settings) t.match(example, variable, `${variable} is a setting`);
  }
});
