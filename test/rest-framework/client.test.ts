// The typed client against the server, both made from the same declarations.
import t from 'tap';
import { undiciClient } from '../../src/adapters/http/undici.ts';
import { addresses } from '../../src/rest/routes/addresses.ts';
import { blocks } from '../../src/rest/routes/blocks.ts';
import { contracts } from '../../src/rest/routes/contracts.ts';
import { permissions } from '../../src/rest/routes/permissions.ts';
import { client, RefusedError } from '../../src/rest-framework/client.ts';
import { memoryNode } from '../rest/fixtures/memory-node.ts';

const http = undiciClient();
t.teardown(() => http.close());
const { url, accounts, apiKey } = await memoryNode(t);
const [first] = accounts;

t.test('parameters, queries and bodies', async (t) => {
  const node = client(http, `${url}/`);
  const answer = await node.call(addresses.balance, { params: { address: first.text } });
  t.strictSame(answer, { address: first.text, confirmations: 0, balance: 10n ** 16n });

  const body = { addresses: [first.text], timestamp: 9223372036854775807n };
  const roles = await node.call(permissions.ofMany, { body });
  t.equal(roles.timestamp, 9223372036854775807n, 'no digit is lost on the way');
  t.equal(roles.addressToRoles[0]?.address, first.text);

  const query = { offset: 0, limit: 5, matches: 'a&b=c' };
  await t.rejects(node.call(contracts.state, { params: { contractId: 'abc' }, query }), {
    status: 404,
    code: 600,
  });
});

t.test('keys', async (t) => {
  const call = { params: { address: first.text }, body: { message: 'hello' } };
  const signed = await client(http, url, { apiKey }).call(addresses.signText, call);
  t.equal(signed.message, 'hello');
  const refused = await client(http, url)
    .call(addresses.signText, call)
    .catch((error) => error);
  t.ok(refused instanceof RefusedError);
  t.match(refused, { status: 403, code: 2, message: /^No API key was given/ });
});

t.test('text segments are encoded', async (t) => {
  const params = { address: first.text, key: 'a/b c%ф?' };
  await t.rejects(client(http, url).call(addresses.dataEntry, { params }), {
    code: 304,
    message: 'no data for this key: a/b c%ф?',
  });
});

t.test('no node there', async (t) => {
  const nowhere = client(http, 'http://127.0.0.1:1');
  await t.rejects(nowhere.call(blocks.height));
});
