/** The programs of docs/guide/clients.md, as a reader would save and run them. */
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { leftOut } from '../../left-out.ts';
import { startDevNode, temporaryFolder } from './dev-node.ts';
import { startProgram } from './process.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/guide/clients.md'), 'utf8');
const TIMEOUT_MS = 100_000;

/** Name → text of each program. */
const programs = new Map(
  Array.from(page.matchAll(/^```(?:js|python)\n(?:\/\/|#) (\S+)\n([\s\S]*?)^```$/gm), (match) => [
    match[1]!,
    match[2]!,
  ]),
);

const node = await startDevNode(t, { round: '1s' });
const folder = temporaryFolder(t);
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
for (const [name, text] of programs) {
  const placed = text
    .replaceAll('/tmp/tour', node.dir)
    .replaceAll('http://127.0.0.1:6862', node.rest.url);
  writeFileSync(join(folder, name), placed);
}

async function run(t: Test, program: string, file: string) {
  const { exit, stdout, stderr } = startProgram(t, program, [join(folder, file)], { cwd: folder });
  const { code } = await exit;
  t.equal(code, 0, stderr());
  return stdout();
}

t.strictSame(
  [...programs.keys()],
  ['events.mjs', 'with-sdk.mjs', 'with-fetch.mjs', 'with_python.py'],
);

t.test('JavaScript with the SDK', { timeout: TIMEOUT_MS }, async (t) => {
  const stdout = await run(t, process.execPath, 'with-sdk.mjs');
  t.match(stdout, /^\w{43,44} is in block \d+$/m);
});

t.test('JavaScript with fetch', { timeout: TIMEOUT_MS }, async (t) => {
  const stdout = await run(t, process.execPath, 'with-fetch.mjs');
  t.match(stdout, /is in block \d+\n\{ key: 'greeting', type: 'string', value: 'hello' \}/);
  t.match(stdout, /^Bob has 10000000\d{9}n?$/m);
});

/** The system's Python may not be the first in the path. */
const python = ['python3', '/usr/bin/python3'].find(
  (one) => spawnSync(one, ['-c', 'import nacl']).status === 0,
);

const skip = python === undefined && leftOut('python3-nacl is not installed');

t.test('Python', { skip, timeout: TIMEOUT_MS }, async (t) => {
  const stdout = await run(t, python!, 'with_python.py');
  t.match(stdout, /^\w{43,44} is in block \d+$/m);
  t.match(stdout, /^\w{35} has 3999000$/m);
});
