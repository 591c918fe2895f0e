/** Bad input costs no stack: what refuses it is thrown as often as somebody sends it. */
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { apiError } from '../../../src/base/errors.ts';
import { withoutStack } from '../../../src/base/faults/expected-error.ts';
import { decodeHex } from '../../../src/base/hex.ts';
import { parse } from '../../../src/base/json/json.ts';
import { CodecError } from '../../../src/codec/codec.ts';
import { BadNumber } from '../../../src/rest-framework/params.ts';
import { EvaluationFailure } from '../../../src/script/language/values.ts';

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

t.test('refusals of bad input have a message and no stack', async (t) => {
  const refusals = [
    thrownBy(() => base58.decode('0OIl')),
    thrownBy(() => decodeHex('xyz')),
    thrownBy(() => parse('{')),
    thrownBy(() => withoutStack(() => decodeURIComponent('%'))),
    new BadNumber('no number'),
    new CodecError('a.b', 'error.path.missing'),
    new EvaluationFailure('too long'),
    apiError('Invalid', 'bad'),
  ];
  for (const error of refusals) {
    t.type(error, Error);
    const { name, message, stack } = error as Error;
    t.not(message, '', name);
    t.notMatch(stack, /\n/, name);
  }
  t.equal(
    withoutStack(() => 7),
    7,
  );
  t.match(new Error('another').stack, /\n/, 'all other errors keep theirs');
});
