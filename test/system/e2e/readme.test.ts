/** The commands of the README do what it says, line by line, as a user would paste them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { shellBlocks } from './shell.ts';
import { walk } from './tour.ts';

const root = join(import.meta.dirname, '../../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

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
  const { outputs, network, folder } = await walk(t, { text: tour, folder: '/tmp/tour' });
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
