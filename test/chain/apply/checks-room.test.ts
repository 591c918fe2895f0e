// Signatures of blocks wait for room in the verifier, whichever way the blocks come.
import t from 'tap';
import { VerifyQueueFullError } from '../../../src/adapters/verify/signature-queue.ts';
import type { Verifier } from '../../../src/base/ports/verifier.ts';
import { ChecksRoom, roomLimits } from '../../../src/chain/apply/checks-room.ts';
import { mine, newChain, payment, users, verifier } from '../chain-harness.ts';
import { createTestForkChoice } from '../fork-harness.ts';

const [alice, bob] = users;
const load = (checks: number, messageBytes = 0) => ({ checks, messageBytes });
const settled = () => new Promise((resolve) => setImmediate(resolve));

t.test('checks begin in their order, as those before them end', async (t) => {
  const room = new ChecksRoom({ checksAhead: 10, messageBytesAhead: 100 });
  const begun: string[] = [];
  const enter = (name: string, of: ReturnType<typeof load>) => {
    void room.enter(of).then(() => begun.push(name));
    return settled();
  };
  await enter('first', load(6));
  await enter('no room', load(5));
  await enter('small', load(1));
  t.same(begun, ['first'], 'none overtakes');
  room.leave(load(6));
  await settled();
  t.same(begun, ['first', 'no room', 'small']);
  await enter('too many bytes', load(1, 101));
  t.equal(begun.length, 3);
  room.leave(load(5));
  room.leave(load(1));
  await settled();
  t.equal(begun.at(-1), 'too many bytes', 'alone it begins whatever it takes');
});

t.test('a branch waits for room, and one whose checks fail gives it back', async (t) => {
  const source = await newChain();
  const target = await newChain();
  const blocks = [];
  for (let i = 0; i < 4; i++) {
    blocks.push(await mine(source, [payment(alice, bob, 5n, source.clock.time)]));
  }
  target.clock.time = source.clock.time;
  const before = { ...roomLimits };
  Object.assign(roomLimits, { checksAhead: 3 });
  t.teardown(() => Object.assign(roomLimits, before));
  let pending = 0;
  let isBroken = true;
  const small: Verifier = {
    ...verifier,
    async verify(items) {
      if (pending + items.length > 3) throw new VerifyQueueFullError(`${pending} are waiting`);
      pending += items.length;
      await settled();
      pending -= items.length;
      if (isBroken) throw new Error('a thread has died');
      return verifier.verify(items);
    },
  };
  const fork = createTestForkChoice(target, { verifier: small });
  await t.rejects(
    fork.adopt(await Promise.all(blocks.map((block) => fork.check(block)))),
    /a thread has died/,
  );
  isBroken = false;
  t.equal(
    (await fork.adopt(await Promise.all(blocks.map((block) => fork.check(block))))).kind,
    'adopted',
  );
});
