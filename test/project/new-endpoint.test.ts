// Adding an endpoint is one file and one line in a list: server, typed client, interface description
// and the page of limits follow. Shown in a copy of the sources.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { childEnvironment } from '../child-environment.ts';

const ROOT = join(import.meta.dirname, '../..');
const PARTS = 'test/project/new-endpoint';
const copy = mkdtempSync(join(tmpdir(), 'new-endpoint-'));
t.teardown(() => rmSync(copy, { recursive: true, force: true }));

for (const name of ['src', 'package.json', 'test/api/stub-node.ts', `${PARTS}/use-greeting.ts`]) {
  cpSync(join(ROOT, name), join(copy, name), { recursive: true });
}
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));

const run = (): string =>
  execFileSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', `${PARTS}/use-greeting.ts`],
    {
      cwd: copy,
      encoding: 'utf8',
      env: childEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );

t.test('the copy does not know the endpoint by itself', async (t) => {
  t.throws(run, /no route \/utils\/greeting/);
});

t.test('one file and one line make an endpoint', async (t) => {
  // Its imports lead to the sources from where the file stands in the repository.
  const file = readFileSync(join(ROOT, PARTS, 'greeting.ts'), 'utf8').replaceAll(
    '../../../src/api/',
    '../',
  );
  writeFileSync(join(copy, 'src/api/routes/greeting.ts'), file);
  appendFileSync(
    join(copy, 'src/api/routes/all.ts'),
    "export { greeting } from './greeting.ts';\n",
  );
  const said = JSON.parse(run());
  t.equal(said.text, 'Hello reader', 'the server answers the typed client');
  t.match(said.operation, {
    operationId: 'getUtilsGreetingName',
    tags: ['utils'],
    summary: 'Greets by name.',
    parameters: [{ name: 'name', in: 'path', required: true, description: 'A name.' }],
    responses: { 200: { content: { 'application/json': { schema: { required: ['text'] } } } } },
  });
  t.match(said.limits, [/^\| `GET \/utils\/greeting\/\{name\}` \|/]);
});
