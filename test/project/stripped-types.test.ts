// Test files load modules without types from a cache (scripts/stripped-types.cjs). What runs is what
// the source says, whenever it changes, and faults are named as without it.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { childEnvironment } from '../child-environment.ts';

const PRELOAD = join(import.meta.dirname, '../../scripts/stripped-types.cjs');
const folder = t.testdir({
  'package.json': '{ "type": "module" }',
  'main.ts': "import { one } from './one.ts';\nconst text: string = one;\nconsole.log(text);\n",
});
const write = (source: string): void => writeFileSync(join(folder, 'one.ts'), source);

function run(): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const args = [`--require=${PRELOAD}`, join(folder, 'main.ts')];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: childEnvironment() }, (cause, stdout, stderr) => {
      resolve({ code: cause?.code ?? 0, stdout, stderr });
    });
  });
}

t.test('the first and the second time', async (t) => {
  write(`export const one: string = 'at ${Date.now()}';\n`);
  const first = await run();
  t.match(first, { code: 0, stdout: /^at \d+\n$/, stderr: '' });
  t.strictSame(await run(), first);
});

t.test('a source that has changed', async (t) => {
  write("export const one: string = 'before';\n");
  t.match(await run(), { stdout: 'before\n' });
  write("export const one: string = 'later!';\n");
  t.match(await run(), { stdout: 'later!\n' });
});

t.test('faults are named by file and line', async (t) => {
  write("\n\nexport const one: string = 'a' 'b';\n");
  t.match(await run(), { code: 1, stderr: /one\.ts/ });
  write('export enum one { A }\n');
  t.match(await run(), { code: 1, stderr: /enum/ });
  write("export const one: string = '';\n\nthrow new Error('here' as string);\n");
  t.match(await run(), { code: 1, stderr: /one\.ts:3/ });
});

t.test('a module that is missing', async (t) => {
  writeFileSync(join(folder, 'main.ts'), "import './nowhere.ts';\n");
  t.match(await run(), { code: 1, stderr: /nowhere\.ts/ });
});
