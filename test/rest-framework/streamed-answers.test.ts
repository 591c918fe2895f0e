// Streamed answers: within their budgets, from one state, a few at a time.
import t from 'tap';
import { ApiError, apiError } from '../../src/base/errors.ts';
import { KIB, MIB } from '../../src/base/limits/budget.ts';
import type { HttpReply } from '../../src/base/ports/http.ts';
import { frozen } from '../../src/rest/api.ts';
import {
  endingWith,
  joined,
  listOf,
  objectOf,
  streamed,
} from '../../src/rest-framework/json-chunks.ts';
import { budgetOf } from '../../src/rest-framework/route-budget.ts';
import { createStreamedAnswers } from '../../src/rest-framework/streamed-answers.ts';
import { wholeNode } from '../node/in-process.ts';

const { services } = (await wholeNode(t)).node;
const roomy = budgetOf({ cost: { bytesOut: 16 * MIB, streamed: true } });

/** A clock on which every look takes so long, and a record of the turns that were taken. */
function slowClock(ms: number) {
  let now = 0;
  const clock = {
    ...services.clock,
    monotonic: () => {
      now += ms;
      return now;
    },
    turns: 0,
    turn: async () => {
      clock.turns++;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  return clock;
}

function setUp(msPerLook = 1) {
  const clock = slowClock(msPerLook);
  let released = 0;
  let taken = 0;
  const snapshot: typeof services.snapshot = (rowsMax) => {
    const frozen = services.snapshot(rowsMax);
    taken++;
    const release = (): void => {
      released++;
      frozen.release();
    };
    return { ...frozen, release };
  };
  const open = () => taken - released;
  const long = createStreamedAnswers(clock, (rowsMax) =>
    frozen({ ...services, snapshot }, rowsMax),
  );
  return { clock, open, taken: () => taken, long };
}

const textOf = ({ body }: HttpReply): string => Buffer.from(body as Uint8Array).toString();

const code = async (reply: () => HttpReply | Promise<HttpReply>): Promise<number> => {
  try {
    await reply();
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
  return 200;
};

const numbers = (count: number) => listOf(Array(count).keys(), (n) => n);

t.test('a short one comes at once', async (t) => {
  const { long, open } = setUp(0);
  const reply = long.reply(
    streamed(() => endingWith({ a: 1 }, 'b', ['2'])),
    roomy,
  );
  t.notOk(reply instanceof Promise);
  t.equal((reply as HttpReply).body, '{"a":1,"b":2}');
  t.equal(open(), 0);
});

t.test('the chunks make JSON', async (t) => {
  const shapes = [
    [listOf([], String), '[]'],
    [listOf([undefined, 1, undefined, 2], (n) => n), '[1,2]'],
    [joined([undefined, ['1'], undefined, ['2', '3']]), '[1,23]'],
    [joined([undefined]), '[]'],
    [objectOf([]), '{}'],
    [
      objectOf([
        ['a"', ['1']],
        ['b', ['[', ']']],
      ]),
      '{"a\\"":1,"b":[]}',
    ],
    [endingWith({}, 'a', ['1']), '{"a":1}'],
  ] as const;
  for (const [chunks, text] of shapes) {
    t.equal(Array.from(chunks, (piece) => piece ?? '').join(''), text);
  }
});

t.test('a long one gives way to everything else', async (t) => {
  const { long, open, clock } = setUp();
  const reply = await long.reply(
    streamed(() => numbers(20_000)),
    roomy,
  );
  t.strictSame(JSON.parse(textOf(reply)), [...Array(20_000).keys()]);
  t.ok(clock.turns > 1000, `${clock.turns} turns`);
  t.equal(open(), 0, 'the snapshot is released');
  const bytes = reply.body as Uint8Array;
  reply.sent?.();
  t.equal(bytes.length, 0, 'its memory is given back');
});

t.test('characters of several bytes', async (t) => {
  const { long } = setUp();
  const texts = Array.from({ length: 5000 }, (_, i) => `фу 😀 ${i}`);
  const reply = await long.reply(
    streamed(() => listOf(texts, (text) => text)),
    roomy,
  );
  t.strictSame(JSON.parse(textOf(reply)), texts);
});

t.test('it stops at its budget', async (t) => {
  const { long, open } = setUp();
  let made = 0;
  let ended = false;
  function* endless() {
    try {
      for (;;) yield `"${'x'.repeat(1000 + 0 * made++)}",`;
    } finally {
      ended = true;
    }
  }
  const small = budgetOf({ cost: { bytesOut: 100 * KIB } });
  t.equal(await code(() => long.reply(streamed(endless), small)), 413);
  t.ok(made < 200, `${made} chunks`);
  t.ok(ended, 'what it holds is given back');
  t.equal(open(), 0);
});

t.test('a few at a time, the others in a line that ends', async (t) => {
  const { long, open, taken } = setUp();
  const one = () =>
    long.reply(
      streamed(() => numbers(100)),
      roomy,
    );
  const replies = Array.from({ length: 4 + 256 }, one);
  t.equal(taken(), 4);
  t.equal(await code(one), 503);
  for (const reply of await Promise.all(replies)) t.equal(JSON.parse(textOf(reply)).length, 100);
  t.equal(open(), 0);
  t.equal(await code(one), 200);
});

t.test('one that cannot begin, or fails as it is ended, keeps no place', async (t) => {
  let isFailing = false;
  const snapshot: typeof services.snapshot = (rowsMax) => {
    if (isFailing) throw new Error('no snapshot');
    return services.snapshot(rowsMax);
  };
  const long = createStreamedAnswers(slowClock(1), (rowsMax) =>
    frozen({ ...services, snapshot }, rowsMax),
  );
  const outcome = async (chunks: () => Iterable<string | undefined>): Promise<string> => {
    try {
      return textOf(await long.reply(streamed(chunks), roomy));
    } catch (error) {
      return (error as Error).message;
    }
  };
  const some = () => numbers(3);
  function* holding() {
    try {
      yield 'x'.repeat(17 * MIB);
    } finally {
      throwOf('still held');
    }
  }
  for (let i = 0; i < 5; i++) t.equal(await outcome(holding), 'still held');
  t.equal(await outcome(some), '[0,1,2]');
  isFailing = true;
  for (let i = 0; i < 5; i++) t.equal(await outcome(some), 'no snapshot');
  isFailing = false;
  const running = Array.from({ length: 4 }, () => outcome(some));
  isFailing = true;
  const waiting = Array.from({ length: 5 }, () => outcome(some));
  t.strictSame(await Promise.all(running), Array(4).fill('[0,1,2]'));
  t.strictSame(await Promise.all(waiting), Array(5).fill('no snapshot'));
  isFailing = false;
  t.equal(await outcome(some), '[0,1,2]', 'those that waited have none either');
});

function throwOf(message: string): never {
  throw new Error(message);
}

t.test('together they hold a bounded number of bytes', async (t) => {
  const { long, open } = setUp();
  const big = 'x'.repeat(MIB - 2);
  const one = () =>
    code(() =>
      long.reply(
        streamed(() => listOf(Array(9).fill(big), String)),
        roomy,
      ),
    );
  const codes = await Promise.all([one(), one(), one(), one()]);
  t.ok(codes.includes(200));
  t.ok(codes.includes(503));
  t.equal(open(), 0);
  t.equal(await one(), 200, 'all of it is given back');
});

t.test('a refusal in the middle is an answer like any other', async (t) => {
  const { long, open } = setUp();
  const reply = () =>
    long.reply(
      streamed(function* () {
        for (let i = 0; i < 100; i++) yield `${i},`;
        throw apiError('BlockNotFound', 'x');
      }),
      roomy,
    );
  t.equal(await code(reply), 301);
  t.equal(open(), 0);
});
