// The HOCON adapter: accepted input, and that a file cannot execute code.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hoconIncludes, parseHoconText, parseWithIncludes } from '../../src/adapters/hocon.ts';

const parseHoconFile = async (path: string) => (await parseWithIncludes(path)).tree;

/** HOCON's substitution. */
const use = (name: string): string => `$\{${name}}`;

t.test('includes, substitutions and merging', async (t) => {
  const folder = join(t.testdir({}), 'with space#and%');
  mkdirSync(folder);
  writeFileSync(join(folder, 'more.conf'), 'port = 5\n');
  const file = join(folder, 'node.cfg');
  writeFileSync(
    file,
    `base = /x\nnode { include "more.conf"\n include "none.conf"\n dir = ${use('base')}/y\n` +
      `env = ${use('?NO_SUCH_VARIABLE_X')} }\nnode.port2 = 6`,
  );
  t.same(await parseHoconFile(file), { base: '/x', node: { dir: '/x/y', port: 5, port2: 6 } });
  const [included] = await Promise.all([
    hoconIncludes(file),
    parseHoconFile(join(folder, 'more.conf')),
  ]);
  t.strictSame(
    included,
    ['more.conf', 'none.conf'].map((name) => join(folder, name)),
  );
});

t.test('includes that are ignored, since no file is there', async (t) => {
  const folder = t.testdir({ 'there.json': '{"a": 1}', 'more.conf': 'include "deep.conf"\nb = 2' });
  const file = join(folder, 'node.conf');
  const text = ['"there"', '"more.conf"', '"none"', 'file("other.properties")'];
  writeFileSync(file, text.map((one) => `include ${one}\n`).join(''));
  const { tree, missing } = await parseWithIncludes(file);
  t.same(tree, { a: 1, b: 2 });
  t.strictSame(
    [...missing].sort(),
    ['deep.conf', 'none', 'other.properties'].map((name) => join(folder, name)),
  );
  writeFileSync(file, 'include required(file("none.conf"))');
  await t.rejects(parseWithIncludes(file), {
    message: new RegExp(
      `Unable to include .* \\(line 1, .*\\): '${join(folder, 'none.conf')}' does`,
    ),
  });
  writeFileSync(file, 'include classpath("none.conf")');
  await t.rejects(parseWithIncludes(file), /is there an include other than include "…"/);
});

t.test('nothing in a file is executed or fetched', async (t) => {
  const folder = t.testdir({ 'code.js': 'globalThis.executed = true; module.exports = { a: 1 };' });
  writeFileSync(join(folder, 'a.conf'), 'include "code.js"');
  await t.rejects(parseHoconFile(join(folder, 'a.conf')), /ScriptBuilder is not allowed/);
  await t.rejects(parseHoconText('x = a | eval { expr = "1" }'), /EvalTransform is not allowed/);
  await t.rejects(parseHoconText('include url("http://127.0.0.1:1/x.conf")'), /HttpSource is not/);
  t.equal(Reflect.get(globalThis, 'executed'), undefined);
});

t.test('malformed text is an error', async (t) => {
  await t.rejects(parseHoconText('a = "x'), /not closed/);
  await t.rejects(parseHoconText(`a = ${use('b')}`), {
    message:
      "Unable to resolve 'b'. (line 1, column 5): no setting and no variable has this name; set it, " +
      `or write ${use('?b')} where it may be absent`,
  });
  await t.rejects(
    parseHoconText('node {\n a {'),
    /^The object is not closed\. \(line \d, column \d\)$/,
  );
});

t.test('no HTTP client is loaded', async (t) => {
  const adapter = new URL('../../src/adapters/hocon.ts', import.meta.url).href;
  const program = `const { parseHoconText } = await import(${JSON.stringify(adapter)});
    await parseHoconText('a = 1');
    console.log(process.moduleLoadList.filter((one) => / (https?|tls)$/.test(one)).join());`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env: {},
    encoding: 'utf8',
  });
  t.equal(status, 0);
  t.equal(stdout, '\n');
});
