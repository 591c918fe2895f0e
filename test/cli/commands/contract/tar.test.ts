// Archives, as the tar program reads them.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { type TarEntry, tar } from '../../../../src/cli/commands/contract/tar.ts';

t.test('files, links and long names come out as they went in', async (t) => {
  const folder = t.testdir({ file: 'x'.repeat(1300), out: {} });
  const [source, out] = [join(folder, 'file'), join(folder, 'out')];
  const long = `${'long/'.repeat(40)}naïve`;
  const entries: TarEntry[] = [
    { kind: 'file', path: 'bin/file', source, size: 1300, mode: 0o755 },
    { kind: 'text', path: 'text', text: 'ä', mode: 0o644 },
    { kind: 'text', path: 'empty', text: '', mode: 0o600 },
    { kind: 'text', path: long, text: 'deep', mode: 0o644 },
    { kind: 'link', path: 'link', target: 'text', mode: 0o777 },
    { kind: 'link', path: 'far', target: long, mode: 0o777 },
    { kind: 'folder', path: 'none/inside', mode: 0o700 },
  ];
  const archive = await buffer(tar(entries));
  t.equal(archive.length % 512, 0);
  execFileSync('tar', ['-x', '-f', '-', '-C', out], { input: archive });
  t.equal(readFileSync(join(out, 'bin/file'), 'utf8'), 'x'.repeat(1300));
  t.equal(statSync(join(out, 'bin/file')).mode & 0o777, 0o755);
  t.equal(readFileSync(join(out, 'text'), 'utf8'), 'ä');
  t.equal(readFileSync(join(out, 'empty'), 'utf8'), '');
  t.equal(readFileSync(join(out, long), 'utf8'), 'deep');
  t.equal(readlinkSync(join(out, 'link')), 'text');
  t.equal(readlinkSync(join(out, 'far')), long);
  t.strictSame(readdirSync(join(out, 'none/inside')), []);
  t.equal(statSync(join(out, 'none/inside')).mode & 0o777, 0o700);
  t.strictSame(await buffer(tar(entries)), archive, 'the same files make the same archive');
});

t.test('a file that grows or shrinks meanwhile is an error', async (t) => {
  const source = join(t.testdir({ file: '12345' }), 'file');
  const entry: TarEntry = { kind: 'file', path: 'file', source, size: 5, mode: 0o644 };
  for (const text of ['1234', '123456']) {
    writeFileSync(source, text);
    await t.rejects(buffer(tar([entry])), /has changed meanwhile/);
  }
});
