// What surrounds the handlers: paths, bodies, errors.
import t from 'tap';
import { exchangeJson } from '../rest/fixtures/exchange-json.ts';
import { memoryNode } from '../rest/fixtures/memory-node.ts';

const { get, post, accounts, serve, log, node } = await memoryNode(t);
const [first] = accounts;
const { services } = node;

t.test('a trailing slash changes nothing', async (t) => {
  for (const path of ['/blocks/height', `/addresses/balance/${first.text}`, '/node/version']) {
    t.strictSame((await get(`${path}/`)).body, (await get(path)).body);
  }
  t.equal((await get('/blocks/height//')).status, 404);
  t.equal((await get('/Blocks/Height')).status, 404);
});

t.test('bodies', async (t) => {
  const path = '/addresses/balance/details';
  const message = 'failed to parse json message';
  const bad = (validationErrors: unknown) => ({ error: 1, message, cause: null, validationErrors });
  const at = (field: string, why: string) => ({ [field]: [{ msg: [why], args: [] }] });
  const cases: readonly (readonly [body: string | undefined, answer: unknown])[] = [
    [undefined, bad({})],
    ['', bad({})],
    ['{', bad({})],
    ['['.repeat(200_000), bad({})],
    ['[]', bad(at('obj', 'error.expected.jsobject'))],
    ['7', bad(at('obj', 'error.expected.jsobject'))],
    ['{}', bad(at('obj.addresses', 'error.path.missing'))],
    ['{"addresses":null}', bad(at('obj.addresses', 'error.path.missing'))],
    ['{"addresses":"x"}', bad(at('obj.addresses', 'error.expected.jsarray'))],
    ['{"addresses":["a",1]}', bad(at('obj.addresses[1]', 'error.expected.jsstring'))],
    ['{"__proto__":{"addresses":[]}}', bad(at('obj.addresses', 'error.path.missing'))],
  ];
  for (const [body, answer] of cases) {
    const got = await post(path, body);
    t.strictSame([body?.slice(0, 40), got.status, got.body], [body?.slice(0, 40), 400, answer]);
  }
  const both = await post('/permissions/addresses', '{"addresses":7,"timestamp":true}');
  t.strictSame(
    both.body['validationErrors'],
    {
      ...at('obj.addresses', 'error.expected.jsarray'),
      ...at('obj.timestamp', 'error.expected.jsnumber'),
    },
    'all at once',
  );
  const whys = { '1.5': 'long', '9223372036854775808': 'long', '"x"': 'jsnumber' };
  for (const [value, why] of Object.entries(whys)) {
    const answer = await post('/permissions/addresses', `{"addresses":[],"timestamp":${value}}`);
    t.strictSame(answer.body['validationErrors'], at('obj.timestamp', `error.expected.${why}`));
  }
  for (const value of ['9223372036854775807', '"9223372036854775807"']) {
    const answer = await post('/permissions/addresses', `{"addresses":[],"timestamp":${value}}`);
    t.match(answer.text, '"timestamp":9223372036854775807}');
  }
});

t.test('an unknown exception says nothing to the client', async (t) => {
  const view = {
    ...services.view,
    get: () => {
      throw new TypeError('secret of the house');
    },
  };
  const broken = await serve({ view });
  const answer = await exchangeJson('GET', `${broken}/addresses/balance/${first.text}`);
  t.equal(answer.status, 500);
  t.strictSame(answer.body, { error: 0, message: 'Error is unknown' });
  t.match(JSON.stringify(log.of('http.failed')), /secret of the house.*server\.test/s);
  const traced = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
  await fetch(`${broken}/addresses/balance/${first.text}`, { headers: traced });
  t.match(log.of('http.failed').at(-1), { request: '4bf92f3577b34da6a3ce929d0e0e4736' });
});
