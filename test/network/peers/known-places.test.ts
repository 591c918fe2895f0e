import t from 'tap';
import { addressText, type PeerAddress } from '../../../src/network/messages/peer-address.ts';
import {
  CLAIM_MS,
  KnownPlaces,
  LEARNED_MAX,
  LEARNED_OF_OWNER_MAX,
} from '../../../src/network/peers/known-places.ts';
import { fakeClock } from '../../node/fake-clock.ts';

const met = (owner: Uint8Array) => ({ owner, miner: owner });
const DAY_MS = 86_400_000;
const OWNER = Uint8Array.of(1);
const OTHER = Uint8Array.of(2);

const place = (name: string): PeerAddress => ({ host: name, port: 6864 });
const names = (places: KnownPlaces): string[] =>
  [...places.all().values()].map(({ address }) => address.host);

function known(...configured: string[]) {
  const clock = fakeClock(0);
  return { clock, places: new KnownPlaces(configured.map(place), DAY_MS, clock) };
}

t.test('what was learned is forgotten, what is configured is not', async (t) => {
  const { clock, places } = known('listed');
  places.confirm(place('met'), met(OWNER));
  places.confirm(place('silent'), met(OTHER));
  await clock.advance(DAY_MS);
  places.touch(OWNER);
  await clock.advance(1);
  t.strictSame(names(places), ['listed', 'met'], 'a day after the last message');
  places.remove(addressText(place('listed')));
  t.strictSame(names(places), ['listed', 'met']);
});

t.test('places of an owner who is no member are hidden until it is one again', async (t) => {
  const { places } = known('listed', 'unmet');
  places.locate('listed', '10.0.0.1');
  for (const name of ['listed', 'met']) places.confirm(place(name), met(OWNER));
  places.confirm(place('other'), met(OTHER));
  places.review((owner) => owner !== OWNER);
  t.strictSame(names(places), ['unmet', 'other'], 'the configured one, too');
  for (const host of ['listed', '10.0.0.1']) t.notOk(places.isConfigured(undefined, host));
  t.notOk(places.isConfigured(OWNER, '10.0.0.9'));
  t.notOk(places.has(addressText(place('met'))), 'another node may be announced there');
  places.review(() => true);
  t.strictSame(names(places).sort(), ['listed', 'met', 'other', 'unmet']);
  t.ok(places.isConfigured(undefined, '10.0.0.1'));
  places.review((owner) => owner !== OWNER);
  places.confirm(place('listed'), met(OTHER));
  t.ok(names(places).includes('listed'), 'where another owner is met');
});

t.test('what nobody has proved hides no place', async (t) => {
  const { clock, places } = known('listed');
  const claimed = () => places.all().get(addressText(place('listed')))?.claimed;
  const review = () => places.review((owner) => owner !== OTHER);
  places.suspect(place('listed'), OTHER);
  review();
  t.strictSame(names(places), ['listed']);
  t.notOk(places.isConfigured(OTHER, '10.0.0.9'));
  places.confirm(place('listed'), met(OWNER));
  t.equal(claimed(), undefined);
  places.suspect(place('listed'), OTHER);
  review();
  t.strictSame(names(places), ['listed'], 'nor one where an owner was met');
  t.ok(places.isConfigured(OWNER, '10.0.0.9'));
  t.equal(claimed(), OTHER);
  await clock.advance(CLAIM_MS);
  t.equal(claimed(), undefined, 'and is forgotten');
});

t.test('failed dials count for what is in the file and was never met', async (t) => {
  const { places } = known('listed');
  for (const name of ['listed', 'old', 'met']) places.restore(place(name));
  places.confirm(place('met'), met(OWNER));
  for (let i = 0; i < 9; i++) for (const { address } of places.all().values()) places.fail(address);
  t.strictSame(names(places), ['listed', 'old', 'met']);
  for (const { address } of places.all().values()) places.fail(address);
  t.strictSame(names(places), ['listed', 'met']);
});

t.test('the oldest learned places make room', async (t) => {
  const { places } = known('listed');
  for (let i = 0; i <= LEARNED_MAX; i++) {
    places.confirm(place(`p${i}`), met(Uint8Array.of(i >> 8, i)));
  }
  const all = names(places);
  t.equal(all.length, LEARNED_MAX + 1);
  t.strictSame(all.slice(0, 2), ['listed', 'p1']);
});

t.test('an owner who moves on and on displaces no other', async (t) => {
  const { places } = known('listed', 'also');
  for (const name of ['listed', 'also']) places.confirm(place(name), met(OWNER));
  places.confirm(place('honest'), met(OTHER));
  for (let i = 0; i < 3; i++) places.confirm(place(`p${i}`), met(OWNER));
  places.confirm(place('p0'), met(OWNER));
  for (let i = 3; i <= LEARNED_MAX; i++) places.confirm(place(`p${i}`), met(OWNER));
  const last = Array.from({ length: LEARNED_OF_OWNER_MAX }, (_, i) => `p${LEARNED_MAX - i}`);
  t.strictSame(names(places), ['listed', 'also', 'honest', ...last.reverse()]);
});

t.test('of the places of an owner the one last met there is kept', async (t) => {
  const { places } = known();
  for (let i = 0; i < LEARNED_OF_OWNER_MAX; i++) places.confirm(place(`p${i}`), met(OWNER));
  places.confirm(place('p0'), met(OWNER));
  places.confirm(place('new'), met(OWNER));
  t.ok(names(places).includes('p0'));
  t.notOk(names(places).includes('p1'));
});

t.test(
  'a configured node is known by its host, its address in digits, and its owner',
  async (t) => {
    const { places } = known('listed');
    places.locate('listed', '10.0.0.1');
    places.confirm(place('learned'), met(OTHER));
    t.ok(places.isConfigured(undefined, 'listed'));
    t.ok(places.isConfigured(undefined, '10.0.0.1'));
    t.notOk(places.isConfigured(OWNER, '10.0.0.9'));
    places.confirm(place('listed'), met(OWNER));
    t.ok(places.isConfigured(OWNER, '10.0.0.9'));
    t.notOk(places.isConfigured(OTHER, 'learned'));
    t.notOk(places.isConfigured(undefined, 'learned'));
  },
);

t.test('a configured address is known however it is written', (t) => {
  const { places } = known('2001:DB8:0::1', '::ffff:10.0.0.1', 'example');
  places.locate('example', '2001:DB8::2');
  for (const host of ['2001:db8::1', '10.0.0.1', '2001:db8::2', 'example']) {
    t.ok(places.isConfigured(undefined, host), host);
  }
  for (const host of ['2001:db8::3', '10.0.0.2'])
    t.notOk(places.isConfigured(undefined, host), host);
  t.end();
});
