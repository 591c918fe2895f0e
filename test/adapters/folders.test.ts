// Folders are made with those above them; what cannot be one is refused, and never tried for ever.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { makeFolder } from '../../src/adapters/folders.ts';

const MODULE = join(import.meta.dirname, '../../src/adapters/folders.ts');

const dir = mkdtempSync(join(tmpdir(), 'folders-'));
t.teardown(() => rmSync(dir, { recursive: true }));

t.test('a folder and those above it', async (t) => {
  makeFolder(join(dir, 'a/b/c'), 0o700);
  for (const made of ['a', 'a/b', 'a/b/c']) {
    const found = statSync(join(dir, made));
    t.ok(found.isDirectory(), made);
    t.equal(found.mode & 0o777, 0o700, made);
  }
  makeFolder(join(dir, 'a/b/c'));
  t.equal(statSync(join(dir, 'a/b/c')).mode & 0o777, 0o700, 'one that is there stays');
  symlinkSync(join(dir, 'a'), join(dir, 'link'));
  makeFolder(join(dir, 'link/d'));
  t.ok(statSync(join(dir, 'a/d')).isDirectory(), 'through a link');
});

t.test('a file in its place, or above it', async (t) => {
  writeFileSync(join(dir, 'file'), '');
  t.throws(() => makeFolder(join(dir, 'file')), { code: 'EEXIST' });
  t.throws(() => makeFolder(join(dir, 'file/x')), { code: 'ENOTDIR' });
  symlinkSync(join(dir, 'nowhere'), join(dir, 'dangling'));
  t.throws(() => makeFolder(join(dir, 'dangling')), { code: 'EEXIST' });
});

t.test('below a folder that takes none', { skip: process.platform !== 'linux' }, async (t) => {
  const program = `
    import { makeFolder } from ${JSON.stringify(MODULE)};
    try {
      makeFolder('/proc/x/y');
    } catch (cause) {
      console.log(cause.code);
    }
  `;
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 20_000,
    killSignal: 'SIGKILL',
  });
  t.equal(signal, null, 'it ends');
  t.equal(stdout, 'ENOENT\n');
});
