// Who cannot write to the lock file gets no copy, since the writer would not know of the reader.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openLmdbStore } from '../../../src/adapters/lmdb/store.ts';

/** Nobody's, on any machine. */
const UID = 54_321;
const MODULE = join(import.meta.dirname, '../../../src/adapters/lmdb/copy.ts');
const skip = process.getuid?.() === 0 ? false : 'only root changes users';

t.test('a copy as another user', { skip }, async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'copy-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  chmodSync(root, 0o755);
  const folder = join(root, 'store');
  const open = join(root, 'open');
  mkdirSync(open);
  chmodSync(open, 0o777);
  const tables = [{ id: 1, name: 'one' }];
  const store = await openLmdbStore({ folder, tables });
  t.teardown(() => store.close());
  const to = join(open, 'copy');
  const program = `
    import { copyStore } from ${JSON.stringify(MODULE)};
    await copyStore(${JSON.stringify({ folder, tables })}, ${JSON.stringify(to)});
  `;
  const copied = (uid: number) =>
    spawnSync(process.execPath, ['--input-type=module', '-e', program], { uid, encoding: 'utf8' });
  const refused = copied(UID);
  t.match(refused.stderr, /store\/lock\.mdb' is not writable: run this as the user of the node/);
  t.strictSame(readdirSync(open), []);
  const done = copied(0);
  t.equal(done.status, 0, done.stderr);
  t.ok(readdirSync(to).includes('data.mdb'));
});
