// Entries of an account: a part of them, and those whose keys match.
import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { parse } from '../../src/base/json/json.ts';
import { populated } from '../node/populated.ts';
import { call } from '../rest-cases/runner.ts';

const of = await populated(t, { http: httpListener });
const path = `/addresses/data/${of.accounts[0].text}`;
const url = `http://127.0.0.1:${of.node.rest!.port}${path}`;

async function keys(query: string): Promise<readonly string[]> {
  const { status, text } = await call('GET', `${url}?${query}`);
  if (status !== 200) t.fail(text);
  return (parse(text) as { key: string }[]).map(({ key }) => key);
}

t.test('entries of an account by their keys', async (t) => {
  const all = await keys('');
  t.ok(all.length > 2, `${all}`);
  t.strictSame(await keys('offset=1&limit=1'), all.slice(1, 2));
  const two = [all[0]!, all.at(-1)!];
  const matches = `matches=${encodeURIComponent(two.map((key) => `${key[0]}.*${key.slice(3)}`).join('|'))}`;
  t.strictSame(await keys(matches), two);
  t.strictSame(await keys(`${matches}&offset=1`), two.slice(1));
  t.strictSame(await keys(`matches=${all[0]!.slice(0, 3)}`), [], 'the whole key must match');
  const wrong = await call('GET', `${url}?matches=(`);
  t.match({ ...wrong, body: parse(wrong.text) }, { status: 400, body: { error: 629 } });
});
