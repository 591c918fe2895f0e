/**
 * docs/guide/network.md, as four operators and a fifth type it: each in a network namespace with the address
 * that the page gives it, and once more on one loopback, with other ports and options.
 */
import { copyFileSync, cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isObject, parse } from '../../../src/base/json.ts';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { temporaryFolder } from './dev-node.ts';
import { namespaces } from './namespaces.ts';
import { COMMAND, type Command, eventually, type Scope, startProgram } from './process.ts';
import { Shell, shellBlocks } from './shell.ts';

const root = join(import.meta.dirname, '../../..');
const guide = readFileSync(join(root, 'docs/guide/network.md'), 'utf8');
const FOUNDERS = ['alpha', 'beta', 'gamma', 'delta'] as const;
const ALL = [...FOUNDERS, 'epsilon'] as const;
type Name = (typeof ALL)[number];
const addressOf = (name: Name): string => `10.77.0.${ALL.indexOf(name) + 1}`;

t.setTimeout(900_000);
const PATIENCE_MS = 150_000;
t.jobs = 1;

const CERTIFICATE = join(root, 'test/adapters/http/tls/test-only-cert.pem');
const CERTIFICATE_KEY = join(root, 'test/adapters/http/tls/test-only-key.pem');

/** The shell blocks of a chapter, in order; without a title those before the first. */
function chapter(title?: string): string[][] {
  const start = title === undefined ? 0 : guide.indexOf(`\n## ${title}\n`);
  if (start === -1) throw new Error(`there is no chapter ${title}`);
  return shellBlocks(guide.slice(start, guide.indexOf('\n## ', start + 1)));
}

interface Place {
  /** The words before a command that runs there. */
  readonly within: readonly string[];
  /** A line of the page as it is typed there. */
  readonly typed: (line: string) => string;
  readonly env?: Readonly<Record<string, string>>;
}

/** An operator: a folder with what came by post, the folder of the node in it, and a shell. */
class Operator {
  readonly name: Name;
  readonly home: string;
  private readonly scope: Scope;
  private readonly place: Place;
  private readonly shell: Shell;
  private readonly env: Record<string, string>;
  private node: Command | undefined;

  constructor(scope: Scope, name: Name, place: Place) {
    this.scope = scope;
    this.name = name;
    this.place = place;
    this.home = temporaryFolder(scope);
    mkdirSync(join(this.home, 'bin'));
    symlinkSync(COMMAND, join(this.home, 'bin', 'platform-node'));
    this.env = {
      PATH: `${join(this.home, 'bin')}:${process.env['PATH']}`,
      PLATFORM_NODE_OWNER_PASSWORD: `the secret of ${name}`,
      ...place.env,
    };
    this.shell = new Shell({
      cwd: this.home,
      env: this.env,
      within: place.within,
      lineMsMax: 180_000,
    });
    scope.teardown(() => this.shell.end());
  }

  /** The network begins with finality. */
  get isFinal(): boolean {
    return !chapter('Founding')[0]!.some((line) =>
      this.place.typed(line).includes('--no-finality'),
    );
  }

  /** As its README says, where REST is HTTPS. */
  placeCertificate(): void {
    if (!readFileSync(join(this.folder, 'README.md'), 'utf8').includes('rest-cert.pem')) return;
    copyFileSync(CERTIFICATE, join(this.folder, 'rest-cert.pem'));
    copyFileSync(CERTIFICATE_KEY, join(this.folder, 'rest-key.pem'));
  }

  get folder(): string {
    return join(this.home, 'node');
  }

  get log(): string {
    return this.node?.stderr() ?? '';
  }

  /** Types the lines; gives what they print. */
  async type(lines: readonly string[] | undefined): Promise<string> {
    if (lines === undefined) throw new Error('the page has fewer blocks');
    let all = '';
    for (const line of lines) {
      const typed = this.place.typed(line);
      const { code, output } = await this.shell.run(typed);
      if (code !== 0 || /"error"|command not found|Usage:/.test(output)) {
        throw new Error(`${this.name}: ${typed}\n${output}\n${this.log.slice(-2000)}`);
      }
      all += output;
    }
    return all;
  }

  /** The last JSON value of what the lines print. */
  async answer(lines: readonly string[] | undefined): Promise<Record<string, unknown>> {
    return answers(await this.type(lines)).at(-1)!;
  }

  /** As the page starts a node, which then runs beside the shell. */
  async start(lines: readonly string[] | undefined): Promise<Command> {
    const [line = '', ...more] = lines ?? [];
    if (more.length > 0 || !line.startsWith('platform-node start'))
      throw new Error(`no start: ${line}`);
    const words = [...this.place.within, ...line.split(' ')];
    const env = { ...this.env, NODE_NTP_SERVERS: '[]' };
    this.node = startProgram(this.scope, words[0]!, words.slice(1), { cwd: this.folder, env });
    await this.node.line('stderr', /node\.started/);
    return this.node;
  }

  async ended(): Promise<number | null> {
    return (await this.node!.exit).code;
  }

  stop(): void {
    this.node?.kill('SIGTERM');
  }

  /** What the REST interface of this machine says. */
  async ask(path: string): Promise<unknown> {
    const { output } = await this.shell.run(
      this.place.typed(`curl -s http://127.0.0.1:6862${path}`),
    );
    return parse(output);
  }
}

const answers = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => parse(line) as Record<string, unknown>);

/** A file that one sends to another. */
const post = (from: string, to: string): void => cpSync(from, to, { recursive: true });

async function generators(of: Operator, count: number): Promise<Set<string>> {
  const { height } = (await of.ask('/blocks/height')) as { height: number };
  const from = Math.max(2, height - count);
  const headers = (await of.ask(`/blocks/headers/seq/${from}/${height}`)) as {
    generator: string;
  }[];
  return new Set(headers.map(({ generator }) => generator));
}

/** Also a vote, where the network has finality. */
async function takesPart(one: Operator, who: string, seenBy: Operator): Promise<void> {
  try {
    await eventually(
      `a block of ${who}`,
      async () => (await generators(seenBy, 6)).has(who) || undefined,
      PATIENCE_MS,
    );
    if (!one.isFinal) return;
    await eventually(
      `votes of ${one.name}`,
      async () => {
        const state = await one.ask('/finality');
        return (isObject(state) && state['ownVotes'] === 'voting') || undefined;
      },
      PATIENCE_MS,
    );
  } catch (cause) {
    throw new Error(`${(cause as Error).message}\n${one.log.slice(-4000)}`);
  }
}

async function found(t: Test, operators: ReadonlyMap<Name, Operator>): Promise<void> {
  const [init, join1, merge, compare, ...rest] = chapter('Founding');
  const [start, own] = rest;
  const alpha = operators.get('alpha')!;
  const founders = FOUNDERS.map((name) => operators.get(name)!);
  for (const one of operators.values()) await one.type(chapter()[0]);
  await alpha.type(init);
  for (const one of founders) {
    post(join(alpha.home, 'acme', one.name), one.folder);
    await one.type(['cd node']);
    one.placeCertificate();
    const { publicKey, address } = await one.answer(join1);
    t.match([publicKey, address], [String, String]);
    const request = `${one.name}.request.json`;
    copyFileSync(join(one.folder, request), join(alpha.home, request));
  }
  await alpha.type(['cd ..']);
  const { checksum } = await alpha.answer(merge);
  await alpha.type(['cd node']);
  for (const one of founders) {
    copyFileSync(join(alpha.home, 'acme', 'genesis.conf'), join(one.folder, 'genesis.conf'));
    const [seen, checked] = answers(await one.type(compare));
    t.equal(seen?.['checksum'], checksum, `${one.name} sees the checksum of the founder`);
    t.match(checked, { ok: true, errors: [], warnings: [] });
  }
  for (const one of founders) await one.start(start);
  for (const one of founders) await one.type(own);
  for (const one of founders) {
    const [status] = answers(await one.type(['platform-node network checksum .']));
    await takesPart(one, String(status?.['owner']), alpha);
  }
}

async function addFifth(t: Test, operators: ReadonlyMap<Name, Operator>): Promise<string> {
  const [folder, join1, send, start] = chapter('Adding a fifth');
  const [beta, alpha, epsilon] = [
    operators.get('beta')!,
    operators.get('alpha')!,
    operators.get('epsilon')!,
  ];
  await beta.type(folder);
  post(join(beta.home, 'newcomers', 'epsilon'), epsilon.folder);
  await epsilon.type(['cd node']);
  epsilon.placeCertificate();
  const [asked, seen] = answers(await epsilon.type(join1));
  const { checksum } = await alpha.answer(['platform-node network checksum .']);
  t.equal(seen?.['checksum'], checksum);
  const early = await epsilon.start(start).then(
    () => 'it started',
    (cause: Error) => cause.message,
  );
  t.match(early, /not registered in the network/);
  t.equal(await epsilon.ended(), 77);
  copyFileSync(
    join(epsilon.folder, 'epsilon.request.json'),
    join(alpha.folder, 'epsilon.request.json'),
  );
  const [print, ...sends] = send!;
  const printed = answers(await alpha.type([print!]));
  t.match(printed, [
    { type: 111, opType: 'add', targetPubKey: asked?.['publicKey'], nodeName: 'epsilon' },
    { type: 102, opType: 'add', target: asked?.['address'], role: 'miner' },
  ]);
  const sent = answers(await alpha.type(sends));
  t.match(
    sent.map(({ type, height }) => [type, typeof height]),
    [
      [111, 'number'],
      [102, 'number'],
    ],
  );
  const again = answers(await alpha.type(sends));
  t.strictSame(again, [], 'what the chain has is left out');
  await epsilon.start(start);
  await takesPart(epsilon, String(asked?.['address']), alpha);
  return String(asked?.['address']);
}

async function replaceKey(t: Test, operators: ReadonlyMap<Name, Operator>): Promise<void> {
  const [renew, replace, start] = chapter('Replacing a key');
  const [alpha, gamma] = [operators.get('alpha')!, operators.get('gamma')!];
  const { owner: old } = await gamma.answer(['platform-node network checksum .']);
  const fresh = await gamma.answer(renew);
  t.equal(await gamma.ended(), 0);
  t.not(fresh['address'], old);
  copyFileSync(join(gamma.folder, 'gamma.request.json'), join(alpha.folder, 'gamma.request.json'));
  const sent = answers(await alpha.type([`OLD=${old}`, ...replace!]));
  const steps = sent.map(({ type, opType, height }) => ({ type, opType, height: Number(height) }));
  t.match(steps, [
    { type: 111, opType: 'add' },
    { type: 102, opType: 'add' },
    { type: 102, opType: 'remove' },
    { type: 111, opType: 'remove' },
  ]);
  t.ok(steps[2]!.height > steps[1]!.height, 'the old key goes when the new one is there');
  if (alpha.isFinal) t.ok(steps[3]!.height > steps[2]!.height, 'it votes on what takes its role');
  await gamma.start(start);
  await takesPart(gamma, String(fresh['address']), alpha);
  const { allowedNodes } = (await alpha.ask('/peers/allowedNodes')) as {
    allowedNodes: { address: string }[];
  };
  t.notOk(allowedNodes.some(({ address }) => address === old));
}

async function removeOne(t: Test, operators: ReadonlyMap<Name, Operator>): Promise<void> {
  const [remove] = chapter('Removing a member');
  const [alpha, delta] = [operators.get('alpha')!, operators.get('delta')!];
  const { owner } = await delta.answer(['platform-node network checksum .']);
  const sent = answers(await alpha.type([`MEMBER=${owner}`, ...remove!]));
  t.match(sent, [
    { type: 102, opType: 'remove', role: 'miner' },
    { type: 111, opType: 'remove' },
  ]);
  const [role, end] = sent.map(({ height }) => Number(height));
  if (alpha.isFinal) t.ok(end! > role!, 'it votes on what takes its role');
  await eventually(
    'the end of its connections',
    () => /network\.removed/.test(delta.log) || undefined,
  );
  const refused = await alpha.type(remove).then(
    () => '',
    (cause: Error) => cause.message,
  );
  t.match(refused, /neither address nor public key of a registered node/);
}

async function follow(t: Test, places: ReadonlyMap<Name, Place>): Promise<void> {
  const operators = new Map(
    ALL.map((name) => [name, new Operator(t, name, places.get(name)!)] as const),
  );
  await found(t, operators);
  const alpha = operators.get('alpha')!;
  await addFifth(t, operators);
  await replaceKey(t, operators);
  await removeOne(t, operators);
  const { height } = (await alpha.ask('/blocks/height')) as { height: number };
  const hash = async (one: Operator) => {
    const header = (await one.ask(`/blocks/headers/at/${height}`)) as { signature: string };
    return header.signature;
  };
  const head = await hash(alpha);
  for (const name of ['beta', 'gamma', 'epsilon'] as const) {
    const one = operators.get(name)!;
    await eventually(
      `the block at ${height} of ${name}`,
      async () => (await hash(one)) === head || undefined,
    );
  }
  for (const one of operators.values()) {
    for (const word of ['peer.banned', 'block.equivocation', 'fork.too-deep']) {
      t.notMatch(one.log, `"event":"${word}"`, `${one.name}: no ${word}`);
    }
  }
  for (const one of operators.values()) one.stop();
}

t.test('in namespaces, with the addresses of the page', async (t) => {
  const made = namespaces(t, ALL.map(addressOf));
  const typed = (line: string): string => line;
  await follow(t, new Map(ALL.map((name, i) => [name, { ...made[i]!, typed }])));
});

const isShort = process.env['NETWORK_GUIDE'] !== 'all' && 'npm run test:network types it once more';

t.test('on one loopback, with national cryptography and TLS', { skip: isShort }, async (t) => {
  const ports = await freePorts(2 * ALL.length);
  const portsOf = (name: Name) =>
    [2 * ALL.indexOf(name), 2 * ALL.indexOf(name) + 1].map((i) => ports[i]!);
  const places = ALL.map((name): readonly [Name, Place] => {
    const [, rest] = portsOf(name);
    const typed = (line: string): string =>
      ALL.reduce((all, one) => {
        const [peer, restOf] = portsOf(one);
        return all.replace(`${one}=${addressOf(one)}`, `${one}=127.0.0.1:${peer}:${restOf}`);
      }, line)
        .replace('--out acme', '--crypto national --tls --out acme')
        .replace('--from .', '--from . --tls')
        .replace('curl -s', `curl -s --cacert ${CERTIFICATE}`)
        .replaceAll('http://127.0.0.1:6862', `https://127.0.0.1:${rest}`);
    return [
      name,
      {
        within: [],
        typed,
        env: { PLATFORM_NODE_URL: `https://127.0.0.1:${rest}`, NODE_EXTRA_CA_CERTS: CERTIFICATE },
      },
    ];
  });
  await follow(t, new Map(places));
});
