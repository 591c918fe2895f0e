// Evidence comes from a file that anybody may have written.
import t from 'tap';
import { CodecError } from '../../../src/codec/codec.ts';
import { evidenceFromJson } from '../../../src/finality/votes/evidence-json.ts';
import { scheme } from '../../generators/network.ts';

const cases: readonly (readonly [name: string, json: unknown, why: RegExp])[] = [
  ['no object', 5, /no object/],
  ['nothing', null, /no object/],
  ['a list', [], /no object/],
  ['no votes', {}, /a vote is a text in Base64/],
  ['a vote that is no text', { first: 5, second: 5 }, /a vote is a text in Base64/],
  ['a vote that is no Base64', { first: 'base64:%', second: '' }, /no Base64/],
  ['a vote that is too long', { first: `base64:${'A'.repeat(4096)}`, second: '' }, /no Base64/],
  ['a vote that ends early', { first: 'base64:AAAA', second: 'base64:AAAA' }, /./],
];

for (const [name, json, why] of cases) {
  t.test(name, async (t) => {
    const error = t.throws(() => evidenceFromJson(json, scheme)) as CodecError;
    t.ok(error instanceof CodecError);
    t.match(error.message, why);
  });
}
