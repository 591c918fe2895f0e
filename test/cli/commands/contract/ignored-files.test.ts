// The patterns of .dockerignore, as the tools of an engine read them.
import t from 'tap';
import { ignoredFiles } from '../../../../src/cli/commands/contract/ignored-files.ts';

t.test('what a pattern matches, with all below it', async (t) => {
  const cases: readonly (readonly [
    pattern: string,
    yes: readonly string[],
    no: readonly string[],
  ])[] = [
    ['.env', ['.env', '.env/a'], ['a/.env', '.env2', 'xenv']],
    ['/.env', ['.env'], ['a/.env']],
    ['./a/../b/', ['b', 'b/c'], ['a', 'a/b']],
    ['../b', [], ['b', 'a/b']],
    ['a]', ['a]'], ['a']],
    ['*.key', ['a.key', '.key'], ['a/b.key', 'akey']],
    ['*/*.key', ['a/b.key'], ['b.key', 'a/b/c.key']],
    ['**/*.key', ['a.key', 'a/b/c.key'], ['a/key']],
    ['a/**', ['a/b', 'a/b/c'], ['ab', 'b/a']],
    ['a?c', ['abc'], ['a/c', 'ac', 'abbc']],
    ['[a-c]x', ['ax', 'cx'], ['dx']],
    ['[^a-c]x', ['dx'], ['ax']],
    ['\\*', ['*'], ['a']],
    ['a+(b)|c{1}$^', ['a+(b)|c{1}$^'], ['aab', 'c']],
    ['файл', ['файл'], ['файлы']],
    ['*', ['a', '.a', 'a/b'], []],
    ['.', [], ['a', '.a']],
    ['/', [], ['a', '.a']],
    ['# a', [], ['# a', 'a']],
    [' #a ', ['#a'], ['a']],
  ];
  for (const [pattern, yes, no] of cases) {
    const ignored = ignoredFiles(`${pattern}\r\n`);
    for (const path of yes) t.ok(ignored.has(path), `${pattern}: ${path}`);
    for (const path of no) t.notOk(ignored.has(path), `${pattern}: not ${path}`);
  }
});

t.test('the last one that matches decides', async (t) => {
  const ignored = ignoredFiles('\uFEFF*\n\n!src\n! docs/a.md \nsrc/secret\n');
  for (const path of ['a', 'docs', 'docs/b.md', 'src/secret', 'src/secret/x'])
    t.ok(ignored.has(path), path);
  for (const path of ['src', 'src/a/b', 'docs/a.md']) t.notOk(ignored.has(path), path);
  t.notOk(ignored.isFinal);
  t.ok(ignoredFiles('').isFinal);
  t.ok(ignoredFiles('a\n').isFinal);
});

t.test('what is no pattern', async (t) => {
  for (const text of ['!', '! ', '[b-a]', '*.[key', '[]a]', 'a\\']) {
    t.throws(
      () => ignoredFiles(`a\n${text}\n`),
      { message: /^\.dockerignore: '.+' is no pattern$/ },
      text,
    );
  }
});
