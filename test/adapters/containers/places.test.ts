// Which images are forgotten where too many are known.
import t from 'tap';
import type { Container } from '../../../src/adapters/containers/container.ts';
import { ofContract } from '../../../src/adapters/containers/failures.ts';
import { type Place, Places } from '../../../src/adapters/containers/places.ts';
import { contractLimits } from '../../../src/base/limits/contract-limits.ts';

const PLACES_MAX = contractLimits.images.value;
const PAUSE_MS = 1_000;

/** As many images of one creator as are known, none of which starts. */
function full() {
  let now = 0;
  const places = new Places(1, () => now);
  const imageOf = (i: number) => ({ image: `image ${i}`, imageHash: 'ab' });
  for (let i = 0; i < PLACES_MAX; i++) {
    const place = places.of(imageOf(i), 1, 'hostile');
    place.failure = ofContract('missing');
    place.notBefore = PAUSE_MS;
  }
  const pass = (ms: number): void => {
    now += ms;
  };
  const next = imageOf(PLACES_MAX);
  return { places, first: imageOf(0), hasRoom: (by: string) => places.hasRoom(next, 1, by), pass };
}

t.test('a failure is told, and lasts, before its image is forgotten', async (t) => {
  const { places, first, hasRoom, pass } = full();
  const place = places.of(first, 1);
  pass(PAUSE_MS);
  t.equal(hasRoom('hostile'), false, 'none has been told');
  place.failure = undefined;
  place.notBefore = 2 * PAUSE_MS;
  t.equal(hasRoom('hostile'), false, 'nor does it begin anew at once');
  t.ok(places.has(place));
  pass(PAUSE_MS);
  t.equal(hasRoom('hostile'), true);
  t.notOk(places.has(place));
  t.equal(places.all().length, PLACES_MAX - 1);
});

t.test('who has most of them makes room for others, whatever has been told', async (t) => {
  const { places, hasRoom } = full();
  const [poor, used, third] = places.all();
  poor!.creator = 'poor';
  used!.running = 1;
  t.equal(hasRoom('good'), true);
  t.same(
    [poor!, used!, third!].map((place) => places.has(place)),
    [true, true, false],
    'the oldest of those that are not in use',
  );
});

t.test('a container stays a while, also before another creator with hardly fewer', async (t) => {
  let now = 0;
  const places = new Places(1, () => now);
  const add = (image: string, creator: string): Place => {
    const place = places.of({ image, imageHash: 'ab' }, 1, creator);
    // Only whether there is one counts.
    place.container = {} as Container;
    place.readyAt = now;
    return place;
  };
  const first = add('a', 'one');
  t.equal(places.yielding('new'), undefined, 'as many as the newcomer will have');
  now = contractLimits.stay.value;
  t.equal(places.yielding('new'), first);
  const second = add('b', 'one');
  now++;
  first.readyAt = now;
  second.readyAt = now;
  t.equal(places.yielding('new'), first, 'two more: at once');
});
