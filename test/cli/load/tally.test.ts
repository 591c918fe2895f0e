// What the load tool counts.
import t from 'tap';
import { Tally } from '../../../src/cli/load/tally.ts';

const answer = (status: string, body: unknown): Buffer =>
  Buffer.from(`HTTP/1.1 ${status}\r\nContent-Length: 1\r\n\r\n${JSON.stringify(body)}`);
const OK = answer('200 OK', { id: 'a' });
const FULL = answer('503 Service Unavailable', { error: 503, message: 'Server is overloaded' });

t.test('accepted and confirmed, in either order', (t) => {
  const tally = new Tally(0);
  tally.answered('a', 0, OK, 10);
  t.equal(tally.unconfirmed, 1);
  tally.seen('a', 500, true);
  tally.seen('b', 500, true);
  tally.answered('b', 100, OK, 600);
  tally.seen('of another', 700, false);
  t.equal(tally.unconfirmed, 0);
  t.match(tally.report(), {
    seconds: 0.6,
    accepted: 2,
    acceptedPerSecond: 3,
    acceptedMs: { p50: 10, max: 500 },
    confirmed: 2,
    confirmedMs: { p50: 400, max: 500 },
  });
  t.end();
});

t.test('refusals by reason', (t) => {
  const tally = new Tally(0);
  tally.answered('a', 0, FULL, 1);
  tally.answered('b', 0, FULL, 2);
  tally.answered('c', 0, answer('400 Bad Request', 'not an object'), 3);
  tally.loses();
  t.same(tally.report().refused, {
    '503 Server is overloaded': 2,
    '400 "not an object"': 1,
  });
  t.same(tally.total, { accepted: 0, confirmed: 0, refused: 4 });
  t.equal(tally.report().lost, 1);
  t.end();
});

t.test('reasons without end are counted together', (t) => {
  const tally = new Tally(0);
  for (let i = 0; i < 1000; i++) {
    tally.answered(`${i}`, 0, answer('400 Bad Request', { message: `reason ${i}` }), 1);
  }
  const { refused } = tally.report();
  t.equal(Object.keys(refused).length, 51);
  t.equal(refused['other reasons'], 950);
  t.end();
});

t.test('an answer before it was due', (t) => {
  const tally = new Tally(0);
  tally.answered('a', 1.5, OK, 1);
  t.equal(tally.report().acceptedMs.p99, 0);
  t.end();
});
