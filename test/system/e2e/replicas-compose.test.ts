/**
 * configs/data-service/replicas.yaml as it is shipped: one primary, two streaming replicas, a server
 * on each of them, and one address before the servers. The container of the primary is killed while
 * blocks come, and a replica takes its place, by the steps of the guide. Only the images are
 * stand-ins.
 */
import t from 'tap';
import {
  composeEngine,
  composeProject,
  isAtHeight,
  KEY,
} from '../../containers/compose-project.ts';
import type { Engine } from '../../containers/engine.ts';
import { madeChain } from '../../data-service/made-chain.ts';
import { madeNode } from '../../data-service/made-node.ts';
import { eventClient, type StreamEvent } from '../../data-service/stream/event-client.ts';
import { idsOf, kept } from '../../data-service/stream/kept-events.ts';
import { leftOut } from '../../left-out.ts';
import { eventually } from './process.ts';

const engine = await composeEngine();
const skip = typeof engine === 'string' && leftOut(engine);
const REPLICAS = ['first', 'second'] as const;
const WAIT_MS_MAX = 120_000;
const BLOCK_MS = 100;
t.setTimeout(400_000);

t.test('a replica becomes the primary', { skip, timeout: 400_000 }, async (t) => {
  const chain = madeChain({ seed: 'replicas', txsPerBlock: 5, accounts: 20 });
  chain.grow(30);
  const node = await madeNode(t, () => chain, { host: '0.0.0.0' });
  const { call, url } = await composeProject(t, engine as Engine, {
    file: 'replicas.yaml',
    nodePort: Number(new URL(node.url).port),
    network: '10.213.78',
  });
  const becomes = <T>(name: string, look: () => Promise<T | undefined>): Promise<T> =>
    eventually(name, look, WAIT_MS_MAX).catch(async (cause: unknown) => {
      t.comment(await call(['logs', '--tail', '20']));
      throw cause;
    });
  const reaches = (height: number) =>
    becomes(`two servers at ${height}`, async () =>
      (await isAtHeight(url, height, REPLICAS.length)) ? true : undefined,
    );
  const sql = async (service: string, statement: string): Promise<string> =>
    (await call(['exec', '-T', service, 'psql', '-U', 'data', '-Atc', statement])).trim();

  await call(['up', '--detach']);
  await reaches(31);
  const reader = await followed(t, `${url}/transactions/stream`);

  let isGrowing = true;
  const growing = (async () => {
    for (; isGrowing; await later(BLOCK_MS)) chain.grow(1);
  })();
  await becomes('blocks in the stream', async () =>
    reader.events().some(({ data }) => Number(data['height']) > 36) ? true : undefined,
  );
  await call(['kill', 'primary']);
  isGrowing = false;
  await growing;
  chain.reorganise(4, 8);

  const received = await Promise.all(
    REPLICAS.map(async (name) =>
      BigInt(await sql(`${name}-replica`, "SELECT (pg_last_wal_receive_lsn() - '0/0')::bigint")),
    ),
  );
  const [next, other] = received[0]! >= received[1]! ? REPLICAS : REPLICAS.toReversed();
  await sql(`${next}-replica`, 'SELECT pg_promote()');
  const follow = `host=${next}-replica user=data password=secret application_name=${other}`;
  await sql(`${other}-replica`, `ALTER SYSTEM SET primary_conninfo = '${follow}'`);
  await sql(`${other}-replica`, 'SELECT pg_reload_conf()');
  await call(['up', '--detach', 'crawler'], { PRIMARY: `${next}-replica` });
  await reaches(chain.height());
  chain.grow(3);
  await reaches(chain.height());

  const wanted = idsOf(chain);
  await becomes('the end in the stream', async () =>
    kept(reader.events()).at(-1) === wanted.at(-1) ? true : undefined,
  );
  t.strictSame(kept(reader.events()), wanted, 'a reader has each event once');
  const verify = ['run', '--rm', '-T', 'crawler', 'data', 'verify', '--balances', 'all'];
  const [verified = ''] = (await call(verify, { PRIMARY: `${next}-replica` })).split('\n');
  t.match(
    JSON.parse(verified),
    { from: 1, to: chain.height(), different: [], balances: { left: 0, different: [] } },
    'the store equals the chain',
  );
});

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A client that begins with the first block, and goes on with its last event when an answer ends. */
async function followed(
  t: Parameters<typeof eventClient>[0],
  url: string,
): Promise<{ events(): readonly StreamEvent[] }> {
  const headers = { 'x-api-key': KEY };
  const before: StreamEvent[] = [];
  let client = await eventClient(t, url, '0', headers);
  let isOver = false;
  t.teardown(() => {
    isOver = true;
  });
  (async () => {
    for (;;) {
      await client.ended;
      if (isOver) return;
      const next = await eventClient(t, url, client.lastId(), headers).catch(() => undefined);
      if (next?.status === 200) {
        before.push(...client.events);
        client = next;
      }
      await later(BLOCK_MS);
    }
  })();
  return { events: () => [...before, ...client.events] };
}
