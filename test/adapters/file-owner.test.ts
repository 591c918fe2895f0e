// Root works on the files of the user that runs the node: what it rewrites stays with that user.
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { leave } from '../../src/adapters/file-owner.ts';
import { files } from '../../src/adapters/files.ts';
import { openJournal } from '../../src/adapters/journal.ts';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import { filesShelf } from '../../src/adapters/private-store/files-shelf.ts';
import { RotatingFile } from '../../src/adapters/rotating-file.ts';

/** Nobody's, on any machine. */
const UID = 54_321;
const GID = 54_322;
const skip = process.getuid?.() === 0 ? false : 'only root changes owners';
const root = mkdtempSync(join(tmpdir(), 'owner-'));
t.teardown(() => rmSync(root, { recursive: true }));

function given(path: string, mode: number): void {
  chownSync(path, UID, GID);
  chmodSync(path, mode);
}

const ownerOf = (path: string) => {
  const { uid, gid, mode } = statSync(path);
  return [uid, gid, (mode & 0o777).toString(8)];
};

const ITEM = {
  policyId: new Uint8Array(32).fill(7),
  hash: new Uint8Array(32).fill(8),
  sender: new Uint8Array(26),
  timestamp: 0n,
  type: 'file',
  filename: 'x',
  size: '4',
  author: '',
  comment: '',
};
async function* pieces(text: string) {
  yield new TextEncoder().encode(text);
}

t.test('small files', { skip }, async (t) => {
  const bytes = new TextEncoder().encode('new');
  const replaced = (mode: number, options?: { secret?: boolean }) => {
    const path = join(root, 'small');
    writeFileSync(path, 'old');
    given(path, mode);
    files.replace(path, bytes, options);
    t.equal(readFileSync(path, 'utf8'), 'new');
    return ownerOf(path);
  };
  // The mask of this process says nothing about a mode that somebody has chosen.
  const mask = process.umask(0o077);
  t.teardown(() => process.umask(mask));
  t.strictSame(replaced(0o640), [UID, GID, '640']);
  t.strictSame(replaced(0o664), [UID, GID, '664']);
  t.strictSame(replaced(0o640, { secret: true }), [UID, GID, '640']);
  t.strictSame(replaced(0o644, { secret: true }), [UID, GID, '640'], 'the world sees no secret');
  const copy = join(root, 'copy');
  files.replace(copy, bytes, { secret: true, copyOf: join(root, 'small') });
  t.strictSame(ownerOf(copy), [UID, GID, '640']);
  const fresh = join(root, 'fresh');
  files.replace(fresh, bytes, { secret: true });
  t.strictSame(ownerOf(fresh), [0, process.getgid?.(), '600'], 'a new one is that of the process');
});

t.test('what root makes in a folder of another user', { skip }, async (t) => {
  const home = join(root, 'home');
  mkdirSync(home);
  chownSync(home, UID, GID);
  const bytes = new TextEncoder().encode('new');
  files.replace(join(home, 'keys/of/secret'), bytes, { secret: true });
  files.replace(join(home, 'public'), bytes);
  await openJournal({ path: join(home, 'data/pool.journal') }).close();
  const folder = join(home, 'data/chain');
  const store = await openLmdbStore({ folder, tables: [{ id: 1, name: 'rows' }] });
  const mask = process.umask();
  const made = readdirSync(home, { recursive: true, encoding: 'utf8' });
  t.ok(made.includes('data/chain/data.mdb') && made.includes('data/chain/lock.mdb'));
  await store.close();
  const rotating = new RotatingFile(
    { path: join(home, 'log'), bytesMax: 9, filesMax: 2 },
    () => {},
  );
  rotating.start();
  rotating.write('a line of ten\n');
  rotating.write('one more\n');
  await rotating.stop();
  const shelf = filesShelf(join(home, 'items'));
  await shelf.put(ITEM, pieces('data'));
  const all = readdirSync(home, { recursive: true, encoding: 'utf8' });
  t.ok(all.includes('data/chain/checked.json') && all.includes('log'));
  for (const name of all) {
    const [uid, gid] = ownerOf(join(home, name));
    t.strictSame([uid, gid], [UID, GID], name);
  }
  const modes = ['keys', 'keys/of/secret', 'public', 'data/pool.journal', 'data/chain/data.mdb'];
  const open = (0o666 & ~mask & 0o664).toString(8);
  t.strictSame(
    modes.map((name) => ownerOf(join(home, name))[2]),
    ['700', '600', '644', '600', open],
  );
});

t.test('no file with a name elsewhere is given away', { skip }, async (t) => {
  const home = join(root, 'trap');
  mkdirSync(home);
  writeFileSync(join(root, 'of-root'), 'x');
  symlinkSync(join(root, 'of-root'), join(home, 'link'));
  linkSync(join(root, 'of-root'), join(home, 'second-name'));
  chownSync(home, UID, GID);
  for (const name of ['link', 'second-name', 'absent']) leave(join(home, name));
  t.equal(statSync(join(root, 'of-root')).uid, 0);
});

t.test('a new owner in another group shares no secret with it', { skip }, async (t) => {
  const folder = join(root, 'of another');
  mkdirSync(folder);
  chmodSync(root, 0o711);
  chownSync(folder, UID, GID);
  const path = join(folder, 'secret');
  writeFileSync(path, 'old');
  chmodSync(path, 0o640);
  const bytes = new TextEncoder().encode('new');
  process.setegid?.(GID);
  process.seteuid?.(UID);
  try {
    files.replace(path, bytes, { secret: true });
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
  t.strictSame(ownerOf(path), [UID, GID, '600']);
});

t.test('a journal, rewritten and repaired', { skip }, async (t) => {
  const folder = join(root, 'journal');
  mkdirSync(folder);
  const path = join(folder, 'pool.journal');
  const first = openJournal({ path });
  for (const text of ['one', 'two', 'three']) await first.append(new TextEncoder().encode(text));
  given(path, 0o640);
  await first.rewrite(['one', 'two', 'three'].map((text) => new TextEncoder().encode(text)));
  await first.close();
  t.strictSame(ownerOf(path), [UID, GID, '640']);
  const bytes = readFileSync(path);
  bytes.fill(0, bytes.indexOf('one'), bytes.indexOf('two') + 3);
  writeFileSync(path, bytes);
  const second = openJournal({ path });
  await second.close();
  t.equal(second.damagedPlaces, 1);
  for (const name of readdirSync(folder)) {
    t.strictSame(ownerOf(join(folder, name)), [UID, GID, '640'], name);
  }
});

t.test('an item of confidential data', { skip }, async (t) => {
  const folder = join(root, 'shelf');
  const shelf = filesShelf(folder);
  const put = (text: string) => shelf.put(ITEM, pieces(text));
  await put('data');
  const [path] = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  given(path!, 0o600);
  await put('atad');
  t.strictSame(ownerOf(path!), [UID, GID, '600']);
});
