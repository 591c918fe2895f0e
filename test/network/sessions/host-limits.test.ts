import t from 'tap';
import {
  HostLimits,
  LIMITED_BURST,
  LIMITED_PER_SECOND,
  PROVED_BURST,
  PROVED_PER_SECOND,
} from '../../../src/network/sessions/host-limits.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const QUARTER_MS = 900_000;
const HOST = '10.0.0.1';
const id = (n: number): Uint8Array => Uint8Array.of(n >> 8, n & 255);
const STRANGER = Uint8Array.of(1, 2, 3);

function setUp() {
  const clock = fakeClock(1_700_000_000_000);
  return { clock, limits: new HostLimits(QUARTER_MS, clock) };
}

const begun = (limits: HostLimits, tries: number, transportId: Uint8Array = STRANGER): number =>
  Array.from({ length: tries }, () => limits.mayBegin(HOST, transportId)).filter(Boolean).length;

t.test('few connections of a host with an offence begin', async (t) => {
  const { clock, limits } = setUp();
  t.equal(begun(limits, 100), 100);
  t.ok(limits.offend(HOST), 'which is new');
  t.equal(begun(limits, 100), LIMITED_BURST);
  for (let second = 0; second < 60; second++) {
    await clock.advance(1000);
    t.notOk(limits.offend(HOST));
    t.equal(begun(limits, 20), LIMITED_PER_SECOND);
  }
  t.ok(limits.mayBegin('10.0.0.2', STRANGER), 'another host is free');
  await clock.advance(QUARTER_MS - 1);
  t.equal(begun(limits, 100), LIMITED_BURST);
  await clock.advance(1);
  t.equal(begun(limits, 100), 100, 'a quarter of an hour after the last offence');
  t.ok(limits.offend(HOST));
  limits.clear();
  t.equal(begun(limits, 100), 100);
});

t.test('addresses of one line are one host', async (t) => {
  const { limits } = setUp();
  t.ok(limits.offend('2001:db8::1'));
  t.notOk(limits.offend('2001:db8::2'));
  const begin = (n: number): boolean => limits.mayBegin(`2001:db8::${n.toString(16)}`, STRANGER);
  t.equal(Array.from({ length: 100 }, (_, n) => begin(n)).filter(Boolean).length, LIMITED_BURST);
  t.ok(limits.mayBegin('2001:db8:0:1::1', STRANGER), 'another line is free');
});

t.test('a host of the configuration is not limited for its neighbours', async (t) => {
  const kept = '2001:db8::1';
  const limits = new HostLimits(QUARTER_MS, fakeClock(0), (host) => host === kept);
  limits.offend('2001:db8::2');
  const begin = (host: string): boolean => limits.mayBegin(host, STRANGER);
  t.notOk(Array.from({ length: 100 }, () => begin('2001:db8::3')).every(Boolean));
  t.ok(Array.from({ length: 100 }, () => begin(kept)).every(Boolean));
  limits.offend(kept);
  t.notOk(
    Array.from({ length: 100 }, () => begin(kept)).every(Boolean),
    'but for its own offences',
  );
});

t.test('nodes that have proved themselves have a rate of their own', async (t) => {
  const { clock, limits } = setUp();
  const [owner, other] = [Uint8Array.of(1), Uint8Array.of(2)];
  limits.prove(owner, id(1));
  limits.prove(other, id(2));
  t.equal(begun(limits, 100, id(1)), 100, 'where the host has no offence');
  limits.offend(HOST);
  t.equal(begun(limits, 100), LIMITED_BURST);
  t.equal(begun(limits, 100, id(1)), PROVED_BURST);
  t.equal(begun(limits, 10, id(2)), 10, 'others behind the same address go on');
  limits.prove(owner, id(1));
  limits.prove(owner, id(3));
  t.equal(begun(limits, 100, id(3)), 0, 'neither a new proof nor a new key begins anew');
  t.equal(begun(limits, 100, id(1)), 0, 'one key of an owner, the last');
  await clock.advance(10_000);
  t.equal(begun(limits, 100, id(3)), 10 * PROVED_PER_SECOND);
  for (let i = 0; i < 20_000; i++) limits.prove(owner, Uint8Array.of(9, i >> 8, i & 255));
  t.equal(begun(limits, 20, id(2)), 20, 'no owner takes the place of another');
});

t.test('hosts and owners are bounded', async (t) => {
  const { limits } = setUp();
  limits.offend(HOST);
  t.equal(begun(limits, 100), LIMITED_BURST);
  for (let i = 0; i < 2_000; i++) limits.offend(`10.1.${i >> 8}.${i & 255}`);
  t.equal(begun(limits, 100), 100, 'the oldest is forgotten');
  limits.prove(Uint8Array.of(1), id(1));
  for (let i = 0; i < 20_000; i++) limits.prove(Uint8Array.of(2, i >> 8, i & 255), id(i + 2));
  limits.offend(HOST);
  t.equal(begun(limits, 100, id(1)), LIMITED_BURST);
  t.equal(begun(limits, 100, id(20_001)), PROVED_BURST);
});
