import t from 'tap';
import { paramFrom } from '../../../../src/cli/commands/contract/contract-params.ts';

t.test('key, type and value', async (t) => {
  t.strictSame(paramFrom('to:string:a:b'), { key: 'to', type: 'string', value: 'a:b' });
  t.strictSame(paramFrom('to:string:'), { key: 'to', type: 'string', value: '' });
  t.strictSame(paramFrom('n:integer:-5'), { key: 'n', type: 'integer', value: -5 });
  t.strictSame(paramFrom('n:integer:007'), { key: 'n', type: 'integer', value: 7 });
  const max = 2n ** 63n - 1n;
  t.strictSame(paramFrom(`n:integer:${max}`), { key: 'n', type: 'integer', value: max });
  t.strictSame(paramFrom('on:boolean:false'), { key: 'on', type: 'boolean', value: false });
  const binary = { key: 'b', type: 'binary', value: 'base64:AQI=' };
  t.strictSame(paramFrom('b:binary:AQI='), binary);
  t.strictSame(paramFrom('b:binary:base64:AQI='), binary);
});

t.test('what is none says what is expected', async (t) => {
  for (const text of ['', 'a', 'a:b', ':string:x', 'a:text:b']) {
    t.throws(() => paramFrom(text), { code: 2, message: /expected key:type:value, where type/ });
  }
  t.throws(() => paramFrom('a:integer:1.5'), { code: 2, message: /an integer as value/ });
  t.throws(() => paramFrom('a:boolean:1'), { code: 2, message: /true or false as value/ });
});
