import t from 'tap';
import { createBreakers } from '../../src/contracts/breakers.ts';

function opened() {
  let now = 0;
  const breakers = createBreakers({ monotonic: () => now });
  const fail = (contract: string, times: number): void => {
    for (let i = 0; i < times; i++) breakers.failed(contract);
  };
  return { breakers, fail, pass: (ms: number) => (now += ms) };
}

t.test(
  'ten failures in a row open it, for longer each time, and one success closes it',
  async (t) => {
    const { breakers, fail, pass } = opened();
    fail('a', 9);
    t.equal(breakers.state('a'), 'closed');
    breakers.succeeded('a');
    fail('a', 9);
    t.equal(breakers.state('a'), 'closed', 'only failures in a row count');
    for (const seconds of [5, 10, 20, 40]) {
      fail('a', 1);
      t.equal(breakers.state('a'), 'open', `for ${seconds} s`);
      pass(seconds * 1000 - 1);
      t.equal(breakers.state('a'), 'open');
      pass(1);
      t.equal(breakers.state('a'), 'closed', 'one more try');
    }
    fail('a', 1);
    t.equal(breakers.state('a'), 'spent', 'the fifth time');
    pass(60_000);
    t.equal(breakers.state('a'), 'closed', 'a later transaction gets a try');
    fail('a', 1);
    t.equal(breakers.state('a'), 'spent');
    pass(60_000);
    breakers.succeeded('a');
    fail('a', 9);
    t.equal(breakers.state('a'), 'closed');
  },
);

t.test('a hundred contracts that rest mean that the engine is at fault', async (t) => {
  const { breakers, fail, pass } = opened();
  for (let i = 0; i < 99; i++) fail(`contract ${i}`, 10);
  t.equal(breakers.state('another'), 'closed');
  fail('contract 99', 10);
  t.equal(breakers.state('another'), 'spent');
  pass(5_000);
  t.equal(breakers.state('another'), 'closed');
});
