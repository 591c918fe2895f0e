// Health and status as supervisors and load balancers see them, reason by reason.
import t from 'tap';
import type { Services } from '../../../src/rest/services.ts';
import { call } from '../../rest-cases/runner.ts';
import { memoryNode } from '../fixtures/memory-node.ts';

const ROUND_MS = 30_000;
const { node, clock, serve } = await memoryNode(t, { roundMs: ROUND_MS });
const { services } = node;

/** A node whose last block is this old. */
const aged = (ms: number): Partial<Services> => ({
  clock: { ...clock, now: () => clock.now() + ms },
});

async function asked(changes: Partial<Services>) {
  const url = await serve(changes);
  return async (path: string) => {
    const { status, text } = await call('GET', url + path);
    const body = JSON.parse(text) as { status: string; reasons: { code: string }[] };
    return { status, body, codes: body.reasons?.map(({ code }) => code) };
  };
}

t.test('all is well', async (t) => {
  const get = await asked({});
  const live = await get('/health/live');
  t.match(live, { status: 200, body: { status: 'live' } });
  t.strictSame(live.codes, []);
  const ready = await get('/health/ready');
  t.match(ready, {
    status: 200,
    body: { status: 'ready', height: 1, blocksBehind: 0, contracts: 'off' },
    codes: [],
  });
});

t.test('a node that is behind lives, but is not ready', async (t) => {
  const get = await asked(aged(200_000));
  t.equal((await get('/health/live')).status, 200);
  t.equal((await get('/health/ready')).status, 200, 'ten rounds are allowed');
  const strict = await get('/health/ready?maxBlocksBehind=2');
  t.match(strict, { status: 503, body: { blocksBehind: 5 }, codes: ['tip-too-old'] });
});

t.test('an engine that is away stops contracts, and nothing else', async (t) => {
  const get = await asked({ execution: () => 'away' });
  t.match(await get('/health/ready'), { status: 200, body: { contracts: 'away' } });
});

t.test('a signer that is away leaves the node ready', async (t) => {
  const get = await asked({ signer: () => 'away' });
  t.match(await get('/health/ready'), { status: 200, body: { signer: 'away' } });
});

t.test('peers and time', async (t) => {
  const silent = { ...clock, synchronized: () => false };
  const get = await asked({ clock: silent });
  t.match(await get('/health/ready?minPeers=2'), { status: 503, codes: ['no-time', 'peers'] });
});

t.test('a node that is no member of its network', async (t) => {
  const outside = () => 'the network has removed it';
  const get = await asked({ node: { ...services.node, outside } });
  t.match(await get('/health/ready'), {
    status: 503,
    body: { reasons: [{ code: 'shut-out', message: outside() }] },
  });
  t.equal((await get('/health/live')).status, 200, 'a restart would not help');
});

t.test('a node that two final blocks have stopped', async (t) => {
  const conflict = () => 'block 2 is final here';
  const get = await asked({ node: { ...services.node, conflict } });
  t.match(await get('/health/ready'), {
    status: 503,
    body: { reasons: [{ code: 'finality-conflict', message: conflict() }] },
  });
  t.equal((await get('/health/live')).status, 200, 'a restart would not help');
});

t.test('a broken store and broken journals', async (t) => {
  const get = await asked({
    node: {
      ...services.node,
      problem: () => 'the store is damaged',
      minerJournal: () => 'so is the journal',
    },
    pool: { ...services.pool, problem: () => 'the disk is full' },
  });
  for (const path of ['/health/live', '/health/ready']) {
    t.match(
      await get(path),
      { status: 503, codes: ['store', 'pool-journal', 'miner-journal'] },
      path,
    );
  }
  t.match(await get('/node/status'), {
    status: 503,
    body: { error: 640, message: 'the store is damaged' },
  });
});
