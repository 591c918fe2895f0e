import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  createReadStream,
  lstatSync,
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
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { writeLargeFile } from '../../../../src/cli/commands/chain/large-file.ts';
import { CliError } from '../../../../src/cli/terminal/exit.ts';

const parts = (...words: string[]): Uint8Array[] => words.map((word) => Buffer.from(word));

function emptyFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'large-file-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

t.test('a new file, of many portions', async (t) => {
  const path = join(emptyFolder(t), 'file');
  const part = Buffer.alloc(700_000, 'x');
  await writeLargeFile(path, [part, part, part, Buffer.from('end')]);
  t.ok(readFileSync(path).equals(Buffer.concat([part, part, part, Buffer.from('end')])));
});

t.test('the old one is there until the new one is complete', async (t) => {
  const folder = emptyFolder(t);
  const path = join(folder, 'file');
  const link = join(folder, 'link');
  writeFileSync(path, 'old');
  chmodSync(path, 0o640);
  symlinkSync('file', link);
  function* watching() {
    yield Buffer.alloc(3_000_000, 'n');
    t.equal(readFileSync(path, 'utf8'), 'old');
    yield Buffer.from('new');
  }
  await writeLargeFile(link, watching());
  t.equal(readFileSync(path, 'utf8').slice(-4), 'nnew');
  t.equal(statSync(path).mode & 0o777, 0o640, 'with the mode of the old one');
  t.ok(lstatSync(link).isSymbolicLink());
  t.strictSame(readdirSync(folder), ['file', 'link']);
});

t.test('a pipe gets a stream', async (t) => {
  const path = join(emptyFolder(t), 'pipe');
  execFileSync('mkfifo', [path]);
  const read = text(createReadStream(path));
  await writeLargeFile(path, parts('one', 'two'));
  t.equal(await read, 'onetwo');
  t.ok(statSync(path).isFIFO());
});

t.test('where nothing can be written', async (t) => {
  const folder = emptyFolder(t);
  const refused = async (path: string, why: RegExp): Promise<void> => {
    const error = await writeLargeFile(path, parts('x')).catch((cause: unknown) => cause);
    t.ok(error instanceof CliError);
    t.match(String(error), `'${path}' cannot be written`);
    t.match(String(error), why);
  };
  await refused(join(folder, 'absent', 'file'), /ENOENT/);
  await refused('/dev/full', /ENOSPC/);
  mkdirSync(join(folder, 'folder'));
  await refused(join(folder, 'folder'), /EISDIR/);
  t.strictSame(readdirSync(folder), ['folder']);
});
