/** Which images make room, and for whom. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { makeRoom } from '../../../../src/adapters/containers/images/make-room.ts';
import {
  openPulledImages,
  PULLED_MAX,
  type PulledImage,
} from '../../../../src/adapters/containers/images/pulled-images.ts';
import { quiet } from '../../../chain/chain-harness.ts';

const image = (creator: string, name: string, bytes: number): PulledImage => ({
  ...{ name, hash: name, reference: name, creator, bytes },
});

function setUp(scope: Test, imageQuota: number) {
  const folder = mkdtempSync(join(tmpdir(), 'make-room-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'pulled-images.json');
  const pulled = openPulledImages(path, () => scope.fail('the file is readable'));
  const used = new Set<string>();
  const removed: string[] = [];
  const engine = {
    async removeImage(name: string) {
      if (used.has(name)) return 'used' as const;
      removed.push(name);
      return 'gone' as const;
    },
  };
  const roomFor = (wanted: PulledImage) =>
    makeRoom(wanted, { imageQuota }, { engine, pulled, log: quiet });
  return { pulled, used, removed, roomFor, path };
}

t.test('of the creator with most bytes first, and of one, that used longest ago', async (t) => {
  const { pulled, used, removed, roomFor } = setUp(t, 100);
  for (const one of [image('a', 'a1', 20), image('b', 'b1', 30), image('b', 'b2', 30)])
    pulled.note(one);
  pulled.use('b1');
  t.ok(await roomFor(image('c', 'c1', 20)));
  t.same(removed, [], 'as long as there is room');
  t.ok(await roomFor(image('c', 'c1', 25)));
  t.same(removed, ['b2']);
  used.add('b1');
  t.notOk(
    await roomFor(image('c', 'c2', 90)),
    'what a container uses stays, and the rest is too little',
  );
});

t.test('who has most makes room, not who was there first', async (t) => {
  const { pulled, removed, roomFor } = setUp(t, 100);
  for (const one of [image('a', 'a1', 30), image('b', 'b1', 30), image('b', 'b2', 30)])
    pulled.note(one);
  t.ok(await roomFor(image('c', 'c1', 15)));
  t.same(removed, ['b1']);
});

t.test('the number of images has a limit, too', async (t) => {
  const { pulled, removed, roomFor, path } = setUp(t, 1e9);
  for (let i = 0; i < PULLED_MAX; i++) pulled.note(image('a', `a${i}`, 1));
  t.ok(await roomFor(image('b', 'b1', 1)));
  t.same(removed, ['a0']);
  const again = openPulledImages(path, () => t.fail('the file is readable'));
  t.equal(again.total('count'), PULLED_MAX - 1, 'and the file says what is left');
});

t.test('many small images of one creator drive out none of the others', async (t) => {
  const { pulled, used, removed, roomFor } = setUp(t, 1e9);
  for (const name of ['b1', 'b2', 'b3']) pulled.note(image('b', name, 1_000_000));
  for (let i = 3; i < PULLED_MAX; i++) pulled.note(image('a', `a${i}`, 1));
  t.ok(await roomFor(image('a', 'more', 1)));
  t.same(removed, ['a3'], 'for one more of its own');
  pulled.note(image('a', 'more', 1));
  t.ok(await roomFor(image('c', 'c1', 1)));
  t.same(removed, ['a3', 'a4'], 'for one of another');
  pulled.note(image('c', 'c1', 1));
  for (let i = 5; i < PULLED_MAX; i++) used.add(`a${i}`);
  used.add('more');
  t.notOk(await roomFor(image('a', 'last', 1)), 'nor where all of its own are in use');
  t.equal(removed.length, 2);
});
