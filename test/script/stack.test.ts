/**
 * No verdict on a script depends on how much of the stack its caller has left. V8 gives a thread
 * 984 KB; a sixth of it is enough for all that looks at trees, half of it for the compiler.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { childEnvironment } from '../child-environment.ts';
import { deepSources, deepTrees } from '../generators/dear-scripts.ts';

const STACK_KB = 984;
const program = fileURLToPath(new URL('deep-scripts.ts', import.meta.url));

async function outputOf(kind: string, stackKb: number): Promise<string> {
  const flags = ['--disable-warning=ExperimentalWarning', `--stack-size=${stackKb}`];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, kind], {
    env: childEnvironment(),
  });
  return stdout.trim();
}

t.test('a sixth of the stack is enough for the deepest trees', async (t) => {
  const count = Object.keys(deepTrees).length;
  t.equal(await outputOf('trees', Math.floor(STACK_KB / 6)), `${count} trees`);
});

t.test('half of the stack is enough for the deepest sources', async (t) => {
  const count = Object.keys(deepSources).length;
  t.equal(await outputOf('sources', STACK_KB / 2), `${count} sources`);
});

t.test('the stack of a thread is enough, too', async (t) => {
  for (const kind of ['trees', 'sources']) {
    const ended = await new Promise((resolve) => {
      const worker = new Worker(program, { argv: [kind], stdout: true });
      worker.on('error', resolve);
      worker.on('exit', resolve);
    });
    t.equal(ended, 0, kind);
  }
});
