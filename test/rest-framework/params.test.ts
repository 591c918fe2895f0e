// Parameters of paths and queries: what is refused, and how.
import t from 'tap';
import { memoryNode } from '../rest/fixtures/memory-node.ts';

const { get, post, accounts } = await memoryNode(t);
const [first] = accounts;

t.test('numbers in paths', async (t) => {
  const cases: readonly (readonly [path: string, message: string])[] = [
    ['/blocks/at/abc', "Invalid parameter: Unable to parse Integer from 'abc'"],
    ['/blocks/at/0', "Invalid parameter: '0' must be positive"],
    ['/blocks/at/2147483648', "Invalid parameter: Unable to parse Integer from '2147483648'"],
    ['/blocks/at/1.5', "Invalid parameter: Unable to parse Integer from '1.5'"],
    ['/consensus/miners/x', "Invalid parameter: Unable to parse Long from 'x'"],
    ['/consensus/miners/-5', "Invalid parameter: '-5' must be positive"],
    [
      '/addresses/seq/x/-1',
      "Invalid parameters: [Unable to parse Integer from 'x', '-1' must be positive]",
    ],
    [
      `/addresses/data/${first.text}?offset=-1&limit=0`,
      "Invalid parameters: ['-1' must be non-negative, '0' must be positive]",
    ],
    ['/addresses/seq/5/3', 'Invalid interval'],
    [`/transactions/address/${first.text}/limit/x`, 'invalid.limit'],
    [`/transactions/address/${first.text}`, 'invalid.limit'],
  ];
  for (const [path, message] of cases) {
    const { status, body } = await get(path);
    t.strictSame([path, status, body], [path, 400, { error: 199, message }]);
  }
  t.strictSame((await get('/consensus/miners/9223372036854775807')).text.includes('775807'), true);
});

t.test('yes and no', async (t) => {
  const compiled = (value: string) =>
    post(
      `/utils/script/compile?assetScript=${value}`,
      'match tx { case t: Order => true case _ => false }',
    );
  for (const yes of ['true', 'True', 'yes', 'on', '1'])
    t.equal((await compiled(yes)).status, 400, `${yes}: no asset has orders`);
  for (const no of ['false', 'FALSE', 'no', 'off', '0'])
    t.equal((await compiled(no)).status, 200, no);
  for (const neither of ['', 'x', 'truth', '2']) {
    const { status, body } = await compiled(neither);
    const message = `Invalid parameter: Unable to parse Boolean from '${neither}'`;
    t.strictSame([status, body], [400, { error: 199, message }]);
  }
});

t.test('addresses, keys and ids', async (t) => {
  const codes: readonly (readonly [path: string, status: number, code: unknown])[] = [
    ['/addresses/balance/0OIl', 400, 102],
    [`/addresses/balance/${first.text}x`, 400, 102],
    ['/addresses/publicKey/0OIl', 400, 108],
    ['/addresses/publicKey/abc', 400, 108],
    ['/transactions/info', 400, 101],
    ['/transactions/info/', 400, 101],
    ['/unconfirmed/info/', 400, 101],
    ['/transactions/unconfirmed/info/0OIl', 400, 101],
    ['/blocks/signature/0OIl', 400, 101],
    [`/blocks/signature/${'1'.repeat(89)}`, 400, 101],
    ['/blocks/height/abc', 404, 301],
    ['/contracts/0OIl', 404, 600],
    ['/contracts/abc/key', 404, 600],
    ['/contracts/status/0OIl', 400, 199],
    ['/contracts/status/abc', 404, 605],
    ['/contracts/executed-tx-for/abc', 404, 601],
    ['/privacy/0OIl/recipients', 400, 199],
    ['/privacy/abc/owners', 400, 612],
    ['/privacy/abc/hashes', 400, 612],
    [`/assets/balance/${first.text}/0OIl`, 400, 118],
    [`/assets/${'1'.repeat(45)}/distribution`, 400, 199],
    ['/assets/details/abc', 400, 199],
    ['/alias/by-alias/UPPER', 400, 199],
    ['/alias/by-alias/nobody', 404, 302],
    ['/alias/by-alias/alias:W:nobody', 400, 199],
    [`/addresses/data/${first.text}/a%2Fb`, 404, 304],
    [`/addresses/data/${first.text}/`, 404, 304],
    ['/permissions/addresses', 400, 102],
    ['/addresses/balance/details', 400, 102],
    ['/consensus/minersAtHeight/2', 400, 310],
    ['/consensus/basetarget', 400, 199],
    ['/addresses/seq/0/1001', 400, 10],
    ['/blocks/seq/1/101', 400, 10],
    ['/utils/seed/1025', 400, 10],
    ['/peers/connected', 200, undefined],
  ];
  for (const [path, status, code] of codes) {
    const answer = await get(path);
    t.strictSame([path, answer.status, answer.body['error']], [path, status, code]);
  }
  const key = await get(`/addresses/data/${first.text}/a%2Fb%20c`);
  t.equal(key.body['message'], 'no data for this key: a/b c');
  t.strictSame((await get('/blocks/at/7')).body, {
    status: 'error',
    details: 'No block for this height',
  });
});
