// A command that a signal or an exit ends leaves no folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';

const MODULE = join(import.meta.dirname, '../../../src/cli/terminal/temporary-folder.ts');

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  t.test(`${signal} removes it and ends the process`, async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'temporary-'));
    t.teardown(() => rmSync(dir, { recursive: true }));
    const program = `
      import { writeFileSync } from 'node:fs';
      import { temporaryFolder } from ${JSON.stringify(MODULE)};
      for (const name of ['one-', 'two-']) {
        const { path } = temporaryFolder(${JSON.stringify(`${dir}/`)} + name);
        writeFileSync(path + '/file', '');
      }
      temporaryFolder(${JSON.stringify(`${dir}/`)}).remove();
      setInterval(() => undefined, 1000);
      console.log('made');
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
    await once(child.stdout, 'data');
    t.match(readdirSync(dir), [/^one-/, /^two-/]);
    child.kill(signal);
    t.strictSame(await once(child, 'exit'), [null, signal]);
    t.strictSame(readdirSync(dir), []);
  });
}

t.test('an exit at once removes it', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'temporary-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const program = `
    import { writeFileSync } from 'node:fs';
    import { temporaryFolder } from ${JSON.stringify(MODULE)};
    const { path } = temporaryFolder(${JSON.stringify(`${dir}/one-`)});
    writeFileSync(path + '/file', '');
    process.exit(3);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  t.strictSame(await once(child, 'exit'), [3, null]);
  t.strictSame(readdirSync(dir), []);
});
