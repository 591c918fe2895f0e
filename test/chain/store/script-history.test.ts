// Which accounts had a script lately: by blocks that came, that are stored, and that went.
import t from 'tap';
import { ScriptHistory } from '../../../src/chain/store/script-history.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';
import { NOBODY, scriptTx } from '../../system/crash/witness/unsigned.ts';
import {
  LENGTH_MS,
  mine,
  newChain,
  replaced,
  scheme,
  type TestChain,
  users,
} from '../chain-harness.ts';

const [alice, bob, carol] = users;
const BLOCKS = 5;

function historyOf({ blockchain, clock }: TestChain, ms = 0, accounts = 10): ScriptHistory {
  const history = new ScriptHistory({ blocks: BLOCKS, ms, accounts }, blockchain, clock);
  history.start();
  return history;
}

const set = (at: TestChain, source: string | undefined, of = alice) =>
  mine(at, [scriptTx(of, source, at.clock.time, source === undefined ? NOBODY : of, scheme)]);

async function empty(at: TestChain, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await mine(at);
}

t.test('a script counts while it is there, and some blocks longer', async (t) => {
  const at = await newChain();
  const history = historyOf(at);
  t.notOk(await history.hadScript(alice.address));
  await set(at, 'true');
  await empty(at, 2 * BLOCKS);
  t.ok(await history.hadScript(alice.address), 'as long as it is there');
  await set(at, undefined);
  await empty(at, BLOCKS - 1);
  t.ok(await history.hadScript(alice.address), 'and for five blocks');
  t.notOk(await history.hadScript(bob.address));
  await empty(at, 1);
  t.notOk(await history.hadScript(alice.address));
});

t.test('or for a time, where rounds are short', async (t) => {
  const at = await newChain();
  const history = historyOf(at, 20 * LENGTH_MS);
  await set(at, 'true');
  await set(at, undefined);
  await empty(at, 10);
  t.ok(await history.hadScript(alice.address));
  await empty(at, 15);
  t.notOk(await history.hadScript(alice.address));
});

t.test('blocks from before the start are read when somebody asks', async (t) => {
  const at = await newChain();
  await set(at, 'true', carol);
  await set(at, undefined, carol);
  await empty(at, BLOCKS);
  await set(at, 'true');
  await set(at, undefined);
  const history = historyOf(at);
  t.ok(await history.hadScript(alice.address));
  t.notOk(await history.hadScript(carol.address), 'too long ago');
  await set(at, 'true', bob);
  await set(at, undefined, bob);
  t.ok(await history.hadScript(bob.address));
  await empty(at, BLOCKS);
  t.notOk(await history.hadScript(alice.address));
  history.stop();
});

t.test('blocks that are rolled back count', async (t) => {
  const at = await newChain();
  await mine(at);
  await set(at, 'true');
  const history = historyOf(at);
  await at.blockchain.rollback(2);
  t.ok(await history.hadScript(alice.address), 'a peer may still have them');
  await empty(at, BLOCKS + 1);
  t.notOk(await history.hadScript(alice.address));
});

t.test('where there is no room, the latest change decides for all without a place', async (t) => {
  const at = await newChain();
  for (const one of [carol, alice, bob]) {
    await set(at, 'true', one);
    await set(at, undefined, one);
  }
  const history = historyOf(at, 0, 1);
  t.ok(await history.hadScript(carol.address));
  await empty(at, BLOCKS - 1);
  t.ok(await history.hadScript(bob.address), 'older blocks were read after its own');
  await empty(at, 1);
  t.notOk(await history.hadScript(bob.address));
});

t.test('a store that cannot be read says so, and is read again later', async (t) => {
  const at = await newChain(createMemoryStore());
  await set(at, 'true');
  await set(at, undefined);
  let isBroken = true;
  const { view: whole } = at.blockchain;
  const view: typeof whole = Object.assign(Object.create(whole) as typeof whole, {
    range(...args: Parameters<typeof whole.range>) {
      if (isBroken) throw new Error('a damaged page');
      return whole.range(...args);
    },
  });
  const history = new ScriptHistory(
    { blocks: BLOCKS, ms: 0, accounts: 10 },
    replaced(at.blockchain, { view }),
    at.clock,
  );
  history.start();
  await t.rejects(history.hadScript(alice.address), /a damaged page/);
  isBroken = false;
  t.ok(await history.hadScript(alice.address));
});
