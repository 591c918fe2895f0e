// When the space on the disk is too little, and how long the miner waits afterwards.
import t from 'tap';
import { watchFreeSpace } from '../../src/node/free-space.ts';
import type { NodePorts } from '../../src/node/node-ports.ts';
import { refusal } from '../../src/rest-framework/answer.ts';
import { fakeClock } from './fake-clock.ts';
import { memoryLog } from './memory-ports.ts';

const MIN = 1_000_000;
const SECOND = 1000;

async function setUp(bytesMin = MIN) {
  const clock = fakeClock(1_700_000_000_000);
  const log = memoryLog();
  const state: { free: number | Error; isBehind: boolean } = { free: 10 * MIN, isBehind: false };
  const disk: NodePorts['disk'] = {
    async freeBytes() {
      if (state.free instanceof Error) throw state.free;
      return state.free;
    },
  };
  const space = await watchFreeSpace({ bytesMin }, { disk, clock, log });
  t.teardown(space.stop);
  const chain = { isFailing: () => state.free === 0, isBehind: () => state.isBehind };
  return {
    ...{ clock, log, space, chain },
    state,
    holds: () => space.holdsMiner(chain),
    async free(bytes: number | Error) {
      state.free = bytes;
      await clock.advance(3 * SECOND);
    },
  };
}

t.test('below the limit, and back with a margin', async (t) => {
  const { log, space, free, holds } = await setUp();
  t.strictSame(
    [space.bytes(), space.isLow(), space.problem(), holds()],
    [...[10 * MIN, false, undefined, false]],
  );
  await free(MIN);
  t.notOk(space.isLow(), 'the limit itself is enough');
  await free(MIN - 1);
  t.ok(space.isLow() && holds());
  t.match(space.problem(), /999999 bytes.*storage\.free-space-min/);
  for (const bytes of [MIN, MIN - 1, 1.04 * MIN]) {
    await free(bytes);
    t.ok(space.isLow(), 'it does not go back and forth');
  }
  await free(1.05 * MIN);
  t.notOk(space.isLow() || holds());
  t.equal(space.problem(), undefined);
  t.match(log.of('disk.low'), [{ free: MIN - 1, min: MIN }]);
  t.equal(log.of('disk.recovered').length, 1);
});

t.test('a limit of 0 still knows a full disk', async (t) => {
  const { space, free } = await setUp(0);
  await free(1);
  t.notOk(space.isLow());
  await free(0);
  t.ok(space.isLow());
  await free(1);
  t.notOk(space.isLow());
});

t.test('the miner waits for the blocks that were missed', async (t) => {
  const { clock, state, free, holds } = await setUp();
  state.isBehind = true;
  t.notOk(holds(), 'being behind alone is not the disk');
  await free(1);
  await free(10 * MIN);
  t.ok(holds());
  await clock.advance(30 * SECOND);
  t.ok(holds());
  state.isBehind = false;
  t.notOk(holds(), 'they are there');
  state.isBehind = true;
  t.notOk(holds(), 'and later it does not matter');
  await free(1);
  await free(10 * MIN);
  await clock.advance(60 * SECOND);
  t.notOk(holds(), 'nobody can hold it for ever');
});

t.test('writes that fail, whatever the space', async (t) => {
  const { state, space, chain } = await setUp();
  let failing = true;
  const holds = () => space.holdsMiner({ ...chain, isFailing: () => failing });
  t.notOk(holds(), 'a miner that nobody is ahead of tries again');
  state.isBehind = true;
  t.ok(holds());
  failing = false;
  t.ok(holds(), 'the missed blocks come first');
  state.isBehind = false;
  t.notOk(holds());
});

t.test('a disk that cannot be read, or is none', async (t) => {
  const { log, space, free } = await setUp();
  for (let i = 0; i < 3; i++) await free(new Error('EIO'));
  t.strictSame([space.bytes(), space.isLow()], [undefined, false]);
  t.equal(log.of('disk.unreadable').length, 1);
  await free(1);
  t.ok(space.isLow());
  const clock = fakeClock(1);
  const none = await watchFreeSpace({ bytesMin: MIN }, { clock, log });
  t.strictSame([none.bytes(), none.isLow()], [undefined, false]);
});

const AT = { where: 'GET /x', request: 'r' };

t.test('a request that meets an error of this machine', async (t) => {
  const log = memoryLog();
  const error = Object.assign(new Error('EIO: i/o error'), { code: 'EIO', syscall: 'read' });
  const { status, body, headers } = refusal(error, log, AT);
  t.equal(status, 503);
  t.same(JSON.parse(String(body)).error, 640);
  t.strictSame(headers, [['retry-after', '1']]);
  t.notMatch(String(body), /EIO/);
  t.equal(log.of('http.failed').length, 1, 'the log says why');
  t.equal(refusal(new TypeError('x'), log, AT).status, 500);
});
