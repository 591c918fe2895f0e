/** Operators who type docs/guide/network.md, each at a place of its own. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '../../../src/base/json/json.ts';
import { temporaryFolder } from './dev-node.ts';
import { COMMAND, type Command, type Scope, startProgram } from './process.ts';
import { Shell, shellBlocks } from './shell.ts';

const root = join(import.meta.dirname, '../../..');
const guide = readFileSync(join(root, 'docs/guide/network.md'), 'utf8');
export const FOUNDERS = ['alpha', 'beta', 'gamma', 'delta'] as const;
export const ALL = [...FOUNDERS, 'epsilon'] as const;
export type Name = (typeof ALL)[number];
export const addressOf = (name: Name): string => `10.77.0.${ALL.indexOf(name) + 1}`;

export const CERTIFICATE = join(root, 'test/adapters/http/tls/test-only-cert.pem');
const CERTIFICATE_KEY = join(root, 'test/adapters/http/tls/test-only-key.pem');

/** The shell blocks of a chapter, in order; without a title those before the first. */
export function chapter(title?: string): string[][] {
  const start = title === undefined ? 0 : guide.indexOf(`\n## ${title}\n`);
  if (start === -1) throw new Error(`there is no chapter ${title}`);
  return shellBlocks(guide.slice(start, guide.indexOf('\n## ', start + 1)));
}

export interface Place {
  /** The words before a command that runs there. */
  readonly within: readonly string[];
  /** A line of the page as it is typed there. */
  readonly typed: (line: string) => string;
  readonly env?: Readonly<Record<string, string>>;
}

/** An operator: a folder with what came by post, the folder of the node in it, and a shell. */
export class Operator {
  readonly name: Name;
  readonly home: string;
  private readonly scope: Scope;
  private readonly place: Place;
  private readonly shell: Shell;
  private readonly env: Record<string, string>;
  private readonly nodes: Command[] = [];

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
    if (!readFileSync(join(this.folder, 'node.conf'), 'utf8').includes('rest-cert.pem')) return;
    copyFileSync(CERTIFICATE, join(this.folder, 'rest-cert.pem'));
    copyFileSync(CERTIFICATE_KEY, join(this.folder, 'rest-key.pem'));
  }

  get folder(): string {
    return join(this.home, 'node');
  }

  /** Of all its nodes so far. */
  get log(): string {
    return this.nodes.map((node) => node.stderr()).join('');
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
    const node = startProgram(this.scope, words[0]!, words.slice(1), { cwd: this.folder, env });
    this.nodes.push(node);
    await node.line('stderr', /node\.started/);
    return node;
  }

  async ended(): Promise<number | null> {
    return (await this.nodes.at(-1)!.exit).code;
  }

  stop(): void {
    this.nodes.at(-1)?.kill('SIGTERM');
  }

  /** The machine breaks, and its disk is lost; the folder of the node is empty. */
  async loseDisk(): Promise<void> {
    const node = this.nodes.at(-1)!;
    node.kill('SIGKILL');
    await node.exit;
    for (const name of readdirSync(this.folder)) {
      rmSync(join(this.folder, name), { recursive: true });
    }
  }

  /** A program of these tests, on this machine. */
  program(path: string, ...args: readonly string[]): Command {
    const words = [...this.place.within, process.execPath, path, ...args];
    return startProgram(this.scope, words[0]!, words.slice(1));
  }

  /** The address of the node, which runs. */
  async owner(): Promise<string> {
    return ((await this.ask('/node/owner')) as { address: string }).address;
  }

  /** What the REST interface of this machine says. */
  async ask(path: string): Promise<unknown> {
    const { output } = await this.shell.run(
      this.place.typed(`curl -s http://127.0.0.1:6862${path}`),
    );
    return parse(output);
  }
}

export const answers = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => parse(line) as Record<string, unknown>);
