// Locks of folders: for different purposes, with those who wait for one, and of processes that have died
// on this machine or on another one.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { files } from '../../src/adapters/files.ts';
import { lockFolder, StoreLockedError } from '../../src/adapters/folder-lock.ts';
import { makeFolder } from '../../src/adapters/folders.ts';
import { thisKernel } from '../../src/adapters/shared-folders/lock-origin.ts';
import { leftOut } from '../left-out.ts';

const root = mkdtempSync(join(tmpdir(), 'folder-lock-'));
t.teardown(() => rmSync(root, { recursive: true }));

t.test('purposes do not see each other', async (t) => {
  const folder = join(root, 'purposes');
  const store = await lockFolder(folder);
  const other = await lockFolder(folder, 'other-');
  await t.rejects(lockFolder(folder), StoreLockedError);
  await t.rejects(lockFolder(folder, 'other-'), StoreLockedError);
  store.release();
  other.release();
  (await lockFolder(folder)).release();
  t.strictSame(readdirSync(folder), []);
});

const notRoot = process.getuid?.() === 0 ? false : leftOut('root');

t.test('a folder of another user is named', { skip: notRoot }, async (t) => {
  const folder = join(root, 'foreign');
  chmodSync(root, 0o755);
  makeFolder(folder, 0o755);
  const program = `
    import { lockFolder } from ${JSON.stringify(MODULE)};
    await lockFolder(${JSON.stringify(folder)}).catch(({ code, message }) => console.log(code, message));
  `;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    uid: 65534,
    gid: 65534,
    encoding: 'utf8',
  });
  t.equal(stdout, `EACCES EACCES: this user cannot write to the folder ${folder}\n`);
});

for (const kind of ['file', 'directory'] as const) {
  t.test(`who locks secrets waits for the others: ${kind}`, async (t) => {
    const path = join(root, `secrets-of-${kind}`, 'keys');
    let inside = 0;
    let writes = 0;
    const write = async (): Promise<void> => {
      const lock = await files.lock(path, kind);
      t.equal(++inside, 1, 'one at a time');
      await new Promise((resolve) => setImmediate(resolve));
      writes++;
      inside--;
      lock.release();
    };
    await Promise.all([write(), write(), write(), write()]);
    t.equal(writes, 4);
    const folder = kind === 'file' ? join(path, '..') : path;
    t.strictSame(readdirSync(folder), [], 'nothing is left');
    // A process that died has left its socket, on which nobody listens.
    writeFileSync(join(folder, 'keystore-lock-dead'), '');
    (await files.lock(path, kind)).release();
    t.strictSame(readdirSync(folder), []);
  });
}

const MODULE = join(import.meta.dirname, '../../src/adapters/folder-lock.ts');
const kernel = thisKernel();
const another = { ...kernel, boot: '22222222', machine: 'bbbbbbbb' };

/** A folder with the lock of a process that was killed, under another kernel. */
function abandoned(t: Test): { readonly folder: string; readonly lock: string } {
  const folder = mkdtempSync(join(tmpdir(), 'lock-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const place = JSON.stringify({ kernel: another, isShared: true });
  const program = `
    import { lockFolder } from ${JSON.stringify(MODULE)};
    await lockFolder(${JSON.stringify(folder)}, '', ${place});
    process.kill(process.pid, 'SIGKILL');
  `;
  spawnSync(process.execPath, ['--input-type=module', '-e', program]);
  const [name = ''] = readdirSync(folder);
  t.match(name, /^lock-[0-9a-f]{16}-22222222-bbbbbbbb$/);
  return { folder, lock: join(folder, name) };
}

const skip = process.platform !== 'linux';

t.test('on a file system that several machines have', { skip }, async (t) => {
  const { folder, lock } = abandoned(t);
  const refused = lockFolder(folder, '', { kernel, isShared: true });
  await t.rejects(refused, StoreLockedError);
  await t.rejects(refused, { message: new RegExp(`delete its lock '${lock}'$`) });
  t.strictSame(readdirSync(folder), [lock.slice(folder.length + 1)], 'it stays, alone');
  const own = await lockFolder(folder, '', { kernel: another, isShared: true });
  t.notOk(existsSync(lock), 'the same kernel knows that nobody lives');
  await t.rejects(lockFolder(folder, '', { kernel: another, isShared: true }), {
    message: `another process uses the folder ${folder}`,
  });
  own.release();
  t.strictSame(readdirSync(folder), []);
});

t.test('on a disk of this machine', { skip }, async (t) => {
  const { folder, lock } = abandoned(t);
  const own = await lockFolder(folder);
  t.notOk(existsSync(lock));
  own.release();
});
