// Adding an endpoint is one file and one line in a list: server, typed client, interface description
// and the page of limits follow. Shown in a copy of the sources.
import t from 'tap';
import { copySources } from './sources-copy.ts';

const SCRIPT = 'use-greeting.ts';
const copy = copySources(t, 'test/project/new-endpoint', ['scripts', 'test']);

t.test('the copy does not know the endpoint by itself', async (t) => {
  t.throws(() => copy.run(SCRIPT), /no route \/utils\/greeting/);
});

t.test('one file and one line make an endpoint', async (t) => {
  copy.add({
    file: 'greeting.ts',
    to: 'src/rest/routes',
    list: 'src/rest/routes/all.ts',
    line: "export { greeting } from './greeting.ts';",
  });
  const said = JSON.parse(copy.run(SCRIPT));
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
