// Prints what server, typed client, description and page of limits contain of the endpoint in
// greeting.ts; new-endpoint.test.ts runs it in a copy of the sources.

import { limitsPage } from '../../../scripts/reference/limits-page.ts';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { nodeDescription } from '../../../src/rest/api.ts';
import { routes } from '../../../src/rest/routes/index.ts';
import { client } from '../../../src/rest-framework/client.ts';
import { openApi } from '../../../src/rest-framework/openapi.ts';
import { memoryNode } from '../../rest/fixtures/memory-node.ts';
import type { greeting } from './greeting.ts';

const path = '/utils/greeting/{name}';
const hello = routes.find((route) => route.path === path) as typeof greeting.hello | undefined;
if (hello === undefined) throw new Error(`no route ${path}`);

const ends: (() => unknown)[] = [];
const { url } = await memoryNode({ teardown: (end) => void ends.push(end) });
const http = undiciClient();
const { text } = await client(http, url).call(hello, { params: { name: 'reader' } });
await http.close();
for (const end of ends.reverse()) await end();

const { paths } = openApi(routes, nodeDescription('1.0.0')) as {
  paths: Record<string, Record<string, unknown>>;
};
const limits = limitsPage()
  .split('\n')
  .filter((line) => line.includes(path));
console.log(JSON.stringify({ text, operation: paths[path]?.['get'], limits }));
