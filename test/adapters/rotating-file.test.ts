// A file of lines: none is lost or torn, whatever the disk does, and the oldest make room.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { RotatingFile } from '../../src/adapters/rotating-file.ts';
import { until } from '../network/parties.ts';
import { temporaryFolder } from '../system/e2e/dev-node.ts';

function opened(path: string, bytesMax = 1_000_000, filesMax = 3) {
  const troubles: (string | undefined)[] = [];
  const file = new RotatingFile({ path, bytesMax, filesMax }, (why) => troubles.push(why?.message));
  file.start();
  return { file, troubles };
}

const linesOf = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];

t.test('lines are appended, to those of an earlier run too', async (t) => {
  const path = join(temporaryFolder(t), 'lines');
  const first = opened(path);
  for (let i = 0; i < 1000; i++) first.file.write(`${i}\n`);
  await first.file.stop();
  const second = opened(path);
  second.file.write('1000\n');
  await second.file.stop();
  t.strictSame(
    linesOf(path),
    Array.from({ length: 1001 }, (_, i) => String(i)),
  );
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.strictSame(first.troubles, []);
});

t.test('a pipe, a folder and a device are no file of lines', async (t) => {
  const dir = temporaryFolder(t);
  const pipe = join(dir, 'pipe');
  t.equal(spawnSync('mkfifo', [pipe]).status, 0);
  for (const path of [pipe, dir, '/dev/null']) {
    t.throws(() => opened(path), { message: `'${path}' is no regular file` });
  }
});

t.test('a full file becomes the first of the old ones, and the oldest is deleted', async (t) => {
  const path = join(temporaryFolder(t), 'lines');
  writeFileSync(path, 'x'.repeat(99));
  for (const [i, line] of ['a', 'b', 'c', 'd'].entries()) {
    const { file } = opened(path, 100);
    file.write(`${line.repeat(99)}\n`);
    await file.stop();
    t.equal(statSync(path).size, i === 0 ? 199 : 100);
  }
  t.strictSame(
    [path, `${path}.1`, `${path}.2`].map((name) => linesOf(name)[0]?.slice(-1)),
    ['d', 'c', 'b'],
  );
  t.notOk(existsSync(`${path}.3`));
  const { file } = opened(path, 100, 1);
  file.write('e\n');
  await file.stop();
  t.strictSame(linesOf(path), ['e'], 'a single file begins anew');
});

t.test('what the disk refuses waits, and is written once', async (t) => {
  const folder = join(temporaryFolder(t), 'gone');
  mkdirSync(folder);
  const path = join(folder, 'lines');
  const { file, troubles } = opened(path);
  rmSync(folder, { recursive: true });
  for (const line of ['a', 'b', 'c']) file.write(`${line}\n`);
  await until('it is told', () => troubles.length === 1);
  mkdirSync(folder);
  await until('they are written', () => linesOf(path).length >= 3);
  file.write('d\n');
  await file.stop();
  t.strictSame(
    linesOf(path).filter((line) => line !== ''),
    ['a', 'b', 'c', 'd'],
  );
  t.equal(troubles.length, 2);
  t.equal(troubles[1], undefined, 'it says that it works again');
});

t.test('the room of what waits has an end', async (t) => {
  const folder = join(temporaryFolder(t), 'gone');
  mkdirSync(folder);
  const { file, troubles } = opened(join(folder, 'lines'));
  rmSync(folder, { recursive: true });
  const line = `${'x'.repeat(1_000_000)}\n`;
  const taken = Array.from({ length: 6 }, () => file.write(line));
  t.strictSame(taken, [true, true, true, true, false, false]);
  await until('it is told', () => troubles.length === 1);
  await file.stop();
});

t.test('a file that cannot be opened', async (t) => {
  const folder = temporaryFolder(t);
  t.throws(() => opened(join(folder, 'no', 'lines')), { code: 'ENOENT' });
  mkdirSync(join(folder, 'lines'));
  t.throws(() => opened(join(folder, 'lines')), /is no regular file/);
});

t.test('a flush leaves nothing waiting', async (t) => {
  const path = join(temporaryFolder(t), 'lines');
  const { file } = opened(path);
  for (const line of ['a', 'b', 'c']) file.write(`${line}\n`);
  file.flush();
  // The first line is on its way in another thread.
  t.strictSame(
    linesOf(path).filter((line) => line !== 'a'),
    ['b', 'c'],
  );
  await file.stop();
  t.strictSame(linesOf(path).sort(), ['a', 'b', 'c']);
});

t.test('a place to which nothing can be renamed', async (t) => {
  const path = join(temporaryFolder(t), 'lines');
  writeFileSync(path, `${'x'.repeat(200)}\n`);
  // Root may write everywhere, but no file takes the place of a folder.
  mkdirSync(`${path}.1`);
  const { file, troubles } = opened(path, 100, 2);
  for (const line of ['a', 'b']) file.write(`${line}\n`);
  await file.stop();
  t.strictSame(linesOf(path).slice(1), ['a', 'b'], 'it goes on with the same file');
  t.match(troubles, [/EISDIR|ENOTEMPTY|EEXIST/, undefined]);
});

t.test('another one begins where the file was renamed', async (t) => {
  const path = join(temporaryFolder(t), 'lines');
  const { file, troubles } = opened(path);
  const written = (text: string): Promise<void> =>
    until('it is written', () => linesOf(path).at(-1) === text);
  file.write('a\n');
  await written('a');
  renameSync(path, `${path}.old`);
  file.reopen();
  file.write('b\n');
  await written('b');
  t.strictSame(linesOf(`${path}.old`), ['a'], 'at once, when it is told');
  renameSync(path, `${path}.older`);
  await until('it notices by itself', () => {
    file.write('c\n');
    return existsSync(path);
  });
  await file.stop();
  t.equal(linesOf(`${path}.older`)[0], 'b');
  t.strictSame(troubles, []);
});

t.test('it says that the file was deleted, and begins another one', async (t) => {
  const path = join(temporaryFolder(t), 'lines');
  const { file, troubles } = opened(path);
  file.write('a\n');
  await until('it is written', () => linesOf(path).length === 1);
  rmSync(path);
  await until('it notices', () => {
    file.write('b\n');
    return linesOf(path).length > 0;
  });
  await file.stop();
  t.strictSame(troubles, ['it was deleted while it was in use', undefined]);
});

t.test('a file that another process has rotated is not rotated again', async (t) => {
  const path = join(temporaryFolder(t), 'lines');
  const [one, other] = [opened(path, 100, 3), opened(path, 100, 3)];
  const long = 'x'.repeat(59);
  for (const [i, { file }] of [other, one, other].entries()) {
    file.write(`${long}\n`);
    await until('it is written', () => linesOf(path).length > i);
  }
  one.file.write('a\n');
  await until('it has rotated', () => linesOf(path)[0] === 'a');
  other.file.write('b\n');
  await other.file.stop();
  await one.file.stop();
  t.strictSame(linesOf(path), ['a', 'b']);
  t.strictSame(linesOf(`${path}.1`), [long, long, long]);
  t.notOk(existsSync(`${path}.2`));
});
