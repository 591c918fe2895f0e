// What a command does at a signal comes before the end, once, and not after it is forgotten.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';

const MODULE = join(import.meta.dirname, '../../../src/cli/terminal/signal-end.ts');

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  t.test(`${signal} runs the work and ends the process`, async (t) => {
    const program = `
      import { writeSync } from 'node:fs';
      import { onSignalEnd } from ${JSON.stringify(MODULE)};
      for (const name of ['one', 'two']) onSignalEnd(() => writeSync(1, name + ' '));
      onSignalEnd(() => writeSync(1, 'forgotten ')).forget();
      setInterval(() => undefined, 1000);
      writeSync(1, 'up ');
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    await once(child.stdout, 'data');
    child.kill(signal);
    t.strictSame(await once(child, 'close'), [null, signal]);
    t.equal(text, 'up one two ');
  });
}
