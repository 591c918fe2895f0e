/** The commands of the README do what it says, line by line, as a user would paste them. */
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { freePorts, isFree } from '../../src/cli/free-ports.ts';
import { temporaryFolder } from './dev-node.ts';
import { startProgram } from './process.ts';
import { Shell, shellBlocks } from './shell.ts';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const PORT = 6862;
const FOLDER = '/tmp/tour';

t.test('the first screen: what it is, then one command each to run and to test it', async (t) => {
  const screen = readme.split('\n').slice(0, 24).join('\n');
  t.match(screen, /^# platform-node\n\nA node of a permissioned blockchain/);
  t.strictSame(shellBlocks(screen), [['npm ci && npm start'], ['npm ci && npm test']]);
});

t.test('every file it names is there', async (t) => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, link]) => link!);
  t.ok(links.length > 10);
  t.strictSame(
    links.filter((link) => !existsSync(join(root, link))),
    [],
  );
  const reading = [...readme.matchAll(/^\d+\. \[(src\/.*)\]\(\1\): /gm)];
  t.equal(reading.length, 10, 'ten files to read');
});

t.test('the tour', { timeout: 120_000 }, async (t) => {
  const tour = readme.slice(readme.indexOf('## Five minutes'), readme.indexOf('## What else'));
  const [[start], ...rest] = shellBlocks(tour) as [[string], ...string[][]];
  const checkout = temporaryFolder(t);
  for (const name of ['bin', 'node_modules', 'package.json']) {
    symlinkSync(join(root, name), join(checkout, name));
  }
  // As written where nobody uses port and folder, else on others.
  const port = (await isFree(PORT)) ? PORT : (await freePorts(1))[0]!;
  const folder = join(temporaryFolder(t), 'tour');
  const placed = (line: string): string =>
    line.replaceAll(FOLDER, folder).replaceAll(`:${PORT}`, `:${port}`);
  const inShell = { cwd: checkout, env: port === PORT ? {} : { PLATFORM_NODE_URL: url(port) } };

  const more = port === PORT ? '' : ` --rest-port ${port}`;
  const inOther = { ...inShell, withChildren: true as const };
  const network = startProgram(t, 'sh', ['-c', placed(start) + more], inOther);
  await network.line('stdout', new RegExp(`REST API +${url(port)}`));

  const shell = new Shell(inShell);
  t.teardown(() => shell.end());
  const outputs: string[] = [];
  for (const line of rest.flat()) {
    const { code, output } = await shell.run(placed(line));
    // What comes after builds on it, so the first failure ends the tour.
    if (code !== 0) throw new Error(`${line}\n${output}\n${network.stderr()}`);
    t.notMatch(output, /"error"|command not found|Usage:/, line);
    outputs.push(output);
  }
  const all = outputs.join('\n');
  t.match(all, /"version":"platform-node v\d/, 'status');
  t.match(all, /"balance":10000000150000000/, 'Bob has got it');
  t.match(all, /\{"key":"greeting","type":"string","value":"hello"\}/, 'the entry is read back');
  t.match(all, /Wallet reloaded successfully/);
  const accounts = outputs.findLast((output) => output.includes('"password":false'));
  t.equal(accounts?.trim().split('\n').length, 6, 'five accounts and a new one');
  t.match((await network.exit).code, 0, 'and it has stopped');
  t.ok(existsSync(join(folder, 'node.conf')), 'its folder is kept');
});

const url = (port: number): string => `http://127.0.0.1:${port}`;
