import t from 'tap';
import { utf8 } from '../../../src/base/bytes.ts';
import { type Culprit, Penalties } from '../../../src/network/sessions/penalties.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const MINUTE = 60_000;

function setUp(blacklisting = true) {
  const clock = fakeClock(1_700_000_000_000);
  const options = { suspensionMs: MINUTE, blacklistMs: 15 * MINUTE, blacklisting };
  return { clock, penalties: new Penalties(options, clock) };
}

const culprit = (fields: Partial<Culprit> = {}): Culprit => ({
  owner: new Uint8Array(26).fill(1),
  host: '10.0.0.1',
  configured: false,
  ...fields,
});
const other = new Uint8Array(26).fill(2);

t.test('one grave offence is enough', async (t) => {
  const grave = ['malformed-message', 'invalid-block', 'wrong-private-data', 'flood'] as const;
  for (const offence of grave) {
    const { clock, penalties } = setUp();
    t.equal(penalties.offend(culprit(), offence, 'why'), 'blacklisted');
    t.equal(penalties.blacklistReason(culprit().owner, '10.9.9.9'), `${offence}: why`, 'by owner');
    t.equal(penalties.blacklistReason(other, '10.0.0.1'), `${offence}: why`, 'by host');
    t.equal(penalties.blacklistReason(other, '10.0.0.2'), undefined);
    await clock.advance(15 * MINUTE - 1);
    t.ok(penalties.blacklistReason(culprit().owner, ''));
    await clock.advance(1);
    t.equal(penalties.blacklistReason(culprit().owner, ''), undefined);
    t.strictSame(penalties.blacklisted(), []);
  }
});

t.test('the fourth burst of invalid transactions within an hour', async (t) => {
  const { clock, penalties } = setUp();
  const burst = () => penalties.offend(culprit(), 'invalid-transactions', '');
  t.strictSame([burst(), burst(), burst()], ['noted', 'noted', 'noted']);
  await clock.advance(61 * MINUTE);
  t.strictSame([burst(), burst(), burst(), burst()], ['noted', 'noted', 'noted', 'blacklisted']);
});

t.test('a black hole is closed, and blacklisted the third time', async (t) => {
  const { clock, penalties } = setUp();
  const unanswered = () => penalties.offend(culprit(), 'unanswered-request', '');
  t.equal(unanswered(), 'close');
  await clock.advance(5 * MINUTE);
  t.strictSame([unanswered(), unanswered()], ['close', 'blacklisted']);
});

t.test('nodes of the configuration come back after a minute', async (t) => {
  const { clock, penalties } = setUp();
  penalties.offend(culprit({ configured: true }), 'invalid-block', '');
  await clock.advance(MINUTE);
  t.equal(penalties.blacklistReason(culprit().owner, '10.0.0.1'), undefined);
});

t.test('on the loopback only owners are refused', async (t) => {
  const { penalties } = setUp();
  penalties.offend(culprit({ host: '127.0.0.1' }), 'invalid-block', '');
  t.equal(penalties.blacklistReason(undefined, '127.0.0.1'), undefined);
  t.equal(penalties.blacklistReason(other, '127.0.0.1'), undefined);
  t.ok(penalties.blacklistReason(culprit().owner, '127.0.0.1'));
});

t.test('an offence before a proof of identity refuses nobody', async (t) => {
  const { penalties } = setUp();
  const verdicts: string[] = [];
  penalties.onOffence((_offence, verdict) => void verdicts.push(verdict));
  const id = Uint8Array.of(1);
  for (let i = 0; i < 100; i++) penalties.offendUnproved('10.0.0.1', 'forged-handshake');
  t.strictSame(new Set(verdicts), new Set(['limited']));
  t.strictSame(penalties.blacklisted(), []);
  for (const owner of [undefined, other]) {
    t.equal(penalties.blacklistReason(owner, '10.0.0.1'), undefined);
  }
  const begin = () => [1, 2, 3, 4, 5].map(() => penalties.mayBegin('10.0.0.1', id));
  t.strictSame(begin(), [true, true, true, true, false]);
  penalties.prove(other, id);
  t.ok(begin().every(Boolean));
});

t.test('without blacklisting a session still ends', async (t) => {
  const { penalties } = setUp(false);
  t.notOk(penalties.offendUnproved('10.0.0.1', 'forged-handshake'));
  for (let i = 0; i < 10; i++) t.ok(penalties.mayBegin('10.0.0.1', Uint8Array.of(1)));
  t.equal(penalties.offend(culprit(), 'invalid-block', ''), 'close');
  t.strictSame(penalties.blacklisted(), []);
});

t.test('places are suspended for a minute', async (t) => {
  const { clock, penalties } = setUp();
  penalties.suspend('10.0.0.1:6864', false);
  t.ok(penalties.isSuspended('10.0.0.1:6864'));
  t.match(penalties.suspended(), [{ place: '10.0.0.1:6864', since: clock.now() }]);
  await clock.advance(MINUTE);
  t.notOk(penalties.isSuspended('10.0.0.1:6864'));
  t.strictSame(penalties.suspended(), []);
});

t.test('a configured node that is slow is let in again after some seconds', async (t) => {
  const { clock, penalties } = setUp();
  const slow = culprit({ configured: true });
  for (let i = 0; i < 2; i++) t.equal(penalties.offend(slow, 'unanswered-request', ''), 'close');
  t.equal(penalties.offend(slow, 'unanswered-request', ''), 'blacklisted');
  await clock.advance(5_000);
  t.strictSame(penalties.blacklisted(), []);
  t.equal(penalties.offend(slow, 'invalid-block', ''), 'blacklisted');
  await clock.advance(59_000);
  t.equal(penalties.blacklisted().length, 1, 'for anything else after a minute');
});

t.test('any node that is slow is let in again after a minute', async (t) => {
  const { clock, penalties } = setUp();
  for (let i = 0; i < 9; i++) t.equal(penalties.offend(culprit(), 'withheld', ''), 'noted');
  t.equal(penalties.offend(culprit(), 'withheld', ''), 'blacklisted');
  await clock.advance(MINUTE);
  t.strictSame(penalties.blacklisted(), []);
  t.equal(penalties.offend(culprit(), 'withheld', ''), 'blacklisted', 'at the next time at once');
  t.equal(penalties.offend(culprit(), 'invalid-block', ''), 'blacklisted');
  await clock.advance(MINUTE);
  t.equal(penalties.blacklisted().length, 1);
});

t.test('places of the configuration are dialled again after some seconds', async (t) => {
  const { clock, penalties } = setUp();
  penalties.suspend('10.0.0.1:6864', true);
  t.ok(penalties.isSuspended('10.0.0.1:6864'));
  await clock.advance(5_000);
  t.notOk(penalties.isSuspended('10.0.0.1:6864'));
});

t.test('a time of day that jumps neither ends nor prolongs anything', async (t) => {
  const year = 365 * 24 * 60 * MINUTE;
  for (const jump of [-year, year]) {
    const { clock, penalties } = setUp();
    penalties.suspend('10.0.0.1:6864', false);
    penalties.offend(culprit(), 'invalid-block', '');
    for (let i = 0; i < 3; i++)
      penalties.offend(culprit({ owner: other }), 'invalid-transactions', '');
    clock.jump(jump);
    t.ok(penalties.isSuspended('10.0.0.1:6864'));
    t.ok(penalties.blacklistReason(culprit().owner, ''));
    const again = penalties.offend(culprit({ owner: other }), 'invalid-transactions', '');
    t.equal(again, 'blacklisted', 'offences of the same hour still count together');
    await clock.advance(MINUTE);
    t.notOk(penalties.isSuspended('10.0.0.1:6864'));
    await clock.advance(14 * MINUTE);
    t.notOk(penalties.blacklistReason(culprit().owner, ''));
  }
});

t.test('everything is bounded', async (t) => {
  const { penalties } = setUp();
  for (let i = 0; i < 5000; i++) {
    const host = `10.1.${i >> 8}.${i & 255}`;
    penalties.suspend(host, false);
    penalties.offend(culprit({ owner: utf8(host), host }), 'malformed-message', '');
  }
  t.equal(penalties.suspended().length, 1000);
  t.equal(penalties.blacklisted().length, 1000);
  penalties.clearBlacklist();
  t.strictSame(penalties.blacklisted(), []);
});
