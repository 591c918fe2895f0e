import t from 'tap';
import {
  createCircuitBreakers,
  FAILURES_MAX,
  IMAGES_MAX,
  IMAGES_OF_ONE_MAX,
} from '../../../src/contracts/execution/circuit-breakers.ts';

/** Its first word. */
const creatorOf = (contract: string): string => contract.split(' ')[0]!;

function opened() {
  let now = 0;
  const breakers = createCircuitBreakers({ monotonic: () => now });
  const fail = (
    contract: string,
    times: number,
    sender: string | undefined,
    imageHash?: string,
  ) => {
    const outage =
      imageHash === undefined ? undefined : { imageHash, creator: creatorOf(contract) };
    for (let i = 0; i < times; i++) breakers.failed(contract, { sender, outage });
  };
  return { breakers, fail, pass: (ms: number) => (now += ms) };
}

for (const sender of ['alice', undefined]) {
  const whose = sender === undefined ? 'of its container' : 'of a sender';
  t.test(`ten failures in a row ${whose} open it, for longer each time`, async (t) => {
    const { breakers, fail, pass } = opened();
    const state = () => breakers.state('a', 'alice');
    fail('a', 9, sender);
    t.equal(state(), 'closed');
    breakers.succeeded('a', 'alice');
    fail('a', 9, sender);
    t.equal(state(), 'closed', 'only failures in a row count');
    for (const seconds of [5, 10, 20, 40]) {
      fail('a', 1, sender);
      t.equal(state(), 'open', `for ${seconds} s`);
      const others = sender === undefined ? 'open' : 'closed';
      t.equal(breakers.state('a', 'bob'), others, 'and for others');
      pass(seconds * 1000 - 1);
      t.equal(state(), 'open');
      pass(1);
      t.equal(state(), 'closed', 'one more try');
    }
    fail('a', 1, sender);
    t.equal(state(), 'spent', 'the fifth time');
    pass(60_000);
    t.equal(state(), 'closed', 'a later transaction gets a try');
    fail('a', 1, sender);
    t.equal(state(), 'spent');
    pass(60_000);
    breakers.succeeded('a', 'alice');
    fail('a', 9, sender);
    t.equal(state(), 'closed');
  });
}

t.test('a hundred different images that rest mean that the engine is at fault', async (t) => {
  const { breakers, fail, pass } = opened();
  breakers.succeeded('good', 'bob');
  const restAll = (images: number): void => {
    for (let i = 0; i < images; i++)
      fail(`creator${i % 2} ${i}`, FAILURES_MAX, 'alice', `image ${i}`);
  };
  restAll(IMAGES_MAX - 1);
  for (let i = 0; i < IMAGES_MAX; i++) fail(`same ${i}`, FAILURES_MAX, 'alice', 'image 0');
  for (let i = 0; i < IMAGES_MAX; i++) fail(`own ${i}`, FAILURES_MAX, 'alice');
  t.equal(
    breakers.state('new', 'bob'),
    'closed',
    'neither one image nor failures of its own count',
  );
  restAll(IMAGES_MAX);
  t.equal(breakers.state('new', 'bob'), 'open', 'what must wait waits');
  t.equal(breakers.state('good', 'bob'), 'closed', 'what has succeeded last may try');
  breakers.succeeded('good', 'bob');
  t.equal(breakers.state('new', 'bob'), 'closed', 'a success shows that the engine works');
  restAll(IMAGES_MAX);
  t.equal(breakers.state('new', 'bob'), 'open');
  fail('good', 1, 'bob', 'image');
  t.equal(breakers.state('good', 'bob'), 'open', 'a failure of the system is no success');
  pass(60_000);
  t.equal(breakers.state('new', 'bob'), 'closed');
});

t.test('the images of one creator alone show nothing of the engine', async (t) => {
  const { breakers, fail } = opened();
  const rest = (creator: string, image: string): void =>
    fail(`${creator} ${image}`, FAILURES_MAX, 'alice', image);
  for (let i = 0; i < 5 * IMAGES_MAX; i++) rest('hostile', `image ${i}`);
  t.equal(breakers.state('new', 'bob'), 'closed');
  for (let i = 1; i < IMAGES_OF_ONE_MAX; i++) rest('other', `other ${i}`);
  t.equal(breakers.state('new', 'bob'), 'closed');
  rest('third', 'one more');
  t.equal(breakers.state('new', 'bob'), 'open');
});

t.test('a contract that the system around holds up rests, and is not given up', async (t) => {
  const { breakers, fail, pass } = opened();
  fail('a', FAILURES_MAX, undefined, 'image');
  for (let i = 0; i < 100; i++) {
    t.equal(breakers.state('a', 'alice'), 'open');
    pass(60_000);
    fail('a', 1, undefined, 'image');
  }
  t.equal(breakers.state('a', 'alice'), 'open');
  pass(60_000);
  t.equal(breakers.state('a', 'alice'), 'closed');
});

t.test('who had no success last gives way', async (t) => {
  const { breakers, fail } = opened();
  t.equal(breakers.isFailing('a', 'alice'), false);
  breakers.refused('a', 'alice');
  t.equal(breakers.isFailing('a', 'alice'), true, 'a refusal costs nothing');
  t.equal(breakers.isFailing('a', 'bob'), false);
  fail('a', 1, 'bob');
  t.equal(breakers.isFailing('a', 'bob'), true);
  breakers.succeeded('a', 'alice');
  t.equal(breakers.isFailing('a', 'alice'), false);
});
