// Locks of folders for different purposes, and those who wait for one.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { files } from '../../src/adapters/files.ts';
import { lockFolder, StoreLockedError } from '../../src/adapters/folder-lock.ts';

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
