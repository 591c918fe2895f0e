/** What a script asks of the state, where the state cannot answer: no verdict about a transaction. */
import t from 'tap';
import { AssertionError } from '../../../src/base/assert.ts';
import type { LedgerView } from '../../../src/ledger/ledger.ts';
import { EvaluationFailure } from '../../../src/script/language/values.ts';
import { environmentOf } from '../../../src/tx/scripts/script-environment.ts';
import { createHarness, scheme } from './ledger-harness.ts';

const none = (): never => {
  throw new Error('nothing is judged');
};

t.test('a fault of the node is none of the script', async (t) => {
  const { draft } = await createHarness({ balances: [] });
  const asking = (fault: Error): (() => unknown) => {
    const view: LedgerView = {
      ...{ scheme, range: draft.range },
      get() {
        throw fault;
      },
    };
    const at = { view, height: 2, find: () => undefined };
    return () => environmentOf(at, 'account', none, none).balance(new Uint8Array(26), undefined);
  };
  t.throws(asking(new AssertionError('wrong')), AssertionError);
  for (const fault of [new TypeError('x'), new RangeError('x')]) {
    const error = t.throws(asking(fault)) as Error;
    t.match(error.message, /the state cannot be read: x/);
    t.notOk(error instanceof TypeError || error instanceof RangeError);
  }
});

t.test('longer names than any row has are not looked for', async (t) => {
  const { draft: view } = await createHarness({ balances: [] });
  const at = { view, height: 2, find: () => undefined };
  const env = environmentOf(at, 'account', none, none);
  const address = new Uint8Array(26);
  // 'я' has two bytes.
  for (const text of ['x'.repeat(5000), 'я'.repeat(2500)]) {
    t.throws(() => env.addressOfAlias(text), EvaluationFailure);
    t.throws(() => env.data(address, text), EvaluationFailure);
  }
  t.equal(env.addressOfAlias('x'.repeat(4096)), undefined);
  t.equal(env.data(address, 'x'.repeat(4070)), undefined);
});
