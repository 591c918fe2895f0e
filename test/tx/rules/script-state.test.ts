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

t.test('a want of memory is none of the script either', async (t) => {
  const { draft } = await createHarness({ balances: [] });
  const failing = (fault: Error) => (): never => {
    throw fault;
  };
  const bytes = new Uint8Array(3);
  const asking = (fault: Error): readonly (() => unknown)[] => {
    const fail = failing(fault);
    const view = { scheme: { ...scheme, secureHash: fail }, range: draft.range, get: fail };
    const env = environmentOf({ view, height: 2, find: () => undefined }, 'account', fail, fail);
    const { secureHash } = env.hashes;
    return [() => secureHash(bytes), env.tx, () => env.verify(bytes, bytes, bytes)];
  };
  for (const ask of asking(new RangeError('Array buffer allocation failed'))) {
    const error = t.throws(ask) as Error;
    t.match(error.message, /this node cannot judge a script: Array buffer allocation failed/);
    t.notOk(error instanceof RangeError);
  }
  for (const ask of asking(new EvaluationFailure('x'))) t.throws(ask, EvaluationFailure);
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
