// A file that is replaced under a link: the link stays, unless somebody else may have made it.
import {
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { files } from '../../src/adapters/files.ts';

const root = mkdtempSync(join(tmpdir(), 'files-'));
t.teardown(() => rmSync(root, { recursive: true }));
const bytes = new TextEncoder().encode('new');
const UID = 54_321;

function linked(name: string): { readonly link: string; readonly file: string } {
  const dir = join(root, name);
  mkdirSync(join(dir, 'elsewhere'), { recursive: true });
  return { link: join(dir, 'link'), file: join(dir, 'elsewhere/file') };
}

t.test('what a link names is replaced', async (t) => {
  const { link, file } = linked('one');
  writeFileSync(file, 'old', { mode: 0o640 });
  symlinkSync('elsewhere/file', link);
  files.replace(link, bytes, { secret: true });
  t.ok(lstatSync(link).isSymbolicLink());
  t.equal(readFileSync(file, 'utf8'), 'new');
  t.equal(lstatSync(file).mode & 0o777, 0o640);
  t.strictSame(readdirSync(join(root, 'one/elsewhere')), ['file']);
});

t.test('also where it is not there yet, and over two links', async (t) => {
  const { link, file } = linked('two');
  symlinkSync('elsewhere/file', link);
  const other = `${link}-of-link`;
  files.replace(link, bytes);
  t.equal(readFileSync(file, 'utf8'), 'new');
  symlinkSync(link, other);
  files.replace(other, new TextEncoder().encode('newer'));
  t.equal(readFileSync(file, 'utf8'), 'newer');
  t.ok(lstatSync(other).isSymbolicLink() && lstatSync(link).isSymbolicLink());
});

const skip = process.getuid?.() === 0 ? false : 'only root changes owners';

t.test('root follows no link of another user to a file of a third', { skip }, async (t) => {
  const { link, file } = linked('three');
  writeFileSync(file, 'of root');
  symlinkSync(file, link);
  lchownSync(link, UID, UID);
  t.throws(() => files.replace(link, bytes), /is a link of another user/);
  t.equal(readFileSync(file, 'utf8'), 'of root');
  lchownSync(file, UID, UID);
  files.replace(link, bytes);
  t.equal(readFileSync(file, 'utf8'), 'new');
  t.equal(lstatSync(file).uid, UID);
});

t.test('nor behind a link of its own', { skip }, async (t) => {
  const { link, file } = linked('four');
  const own = `${link}-of-root`;
  writeFileSync(file, 'of root');
  symlinkSync(file, link);
  lchownSync(link, UID, UID);
  symlinkSync(link, own);
  t.throws(() => files.replace(own, bytes), /link' is a link of another user/);
  t.equal(readFileSync(file, 'utf8'), 'of root');
  rmSync(file);
  t.throws(() => files.replace(own, bytes), /link' is a link of another user/, 'none is made');
  t.notOk(files.exists(file));
});

t.test('a link to itself', async (t) => {
  const { link } = linked('five');
  symlinkSync(link, link);
  t.throws(() => files.replace(link, bytes), /is a link to itself/);
});
