/**
 * configs/data-service/compose.yaml as it is shipped: PostgreSQL, a crawler, two servers, and one
 * address before them. Only the images are stand-ins.
 */
import t from 'tap';
import {
  askProject,
  composeEngine,
  composeProject,
  isAtHeight,
  PACE_MS,
} from '../../containers/compose-project.ts';
import type { Engine } from '../../containers/engine.ts';
import { madeChain } from '../../data-service/made-chain.ts';
import { madeNode } from '../../data-service/made-node.ts';
import { leftOut } from '../../left-out.ts';
import { eventually } from './process.ts';

const engine = await composeEngine();
const skip = typeof engine === 'string' && leftOut(engine);
t.setTimeout(240_000);

t.test('two servers behind one address', { skip, timeout: 240_000 }, async (t) => {
  const chain = madeChain({ seed: 'compose', txsPerBlock: 5, accounts: 20 });
  chain.grow(30);
  const node = await madeNode(t, () => chain, { host: '0.0.0.0' });
  const { call, url } = await composeProject(t, engine as Engine, {
    file: 'compose.yaml',
    nodePort: Number(new URL(node.url).port),
    network: '10.213.77',
  });
  const ask = () => askProject(`${url}/transactions?limit=1`);
  await call(['up', '--detach']);
  const reaches = (height: number, servers: number) =>
    eventually(
      `${servers} servers at ${height}`,
      async () => ((await isAtHeight(url, height, servers)) ? true : undefined),
      120_000,
    ).catch(async (cause: unknown) => {
      t.comment(await call(['logs', '--tail', '20']));
      throw cause;
    });

  await reaches(31, 2);
  t.equal((await fetch(`${url}/transactions`)).status, 401, 'keys are asked for');
  const by = [];
  for (let i = 0; i < 6; i++) by.push((await ask()).by);
  t.strictSame(by.toSorted(), [...Array(3).fill('first'), ...Array(3).fill('second')], 'in turns');

  // While one server is killed, every request is answered.
  let isKilled = false;
  const killed = call(['kill', 'server']).then(() => {
    isKilled = true;
  });
  const statuses = new Map<number, number>();
  for (let after = 0; after < 20; after += isKilled ? 1 : 0) {
    const { status } = await ask();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
  await killed;
  t.strictSame([...statuses.keys()], [200], JSON.stringify([...statuses]));
  chain.grow(3);
  await reaches(34, 1);
  await call(['up', '--detach', 'server']);
  chain.grow(3);
  await reaches(37, 2);

  await call(['kill', 'crawler']);
  chain.reorganise(4, 6);
  await call(['up', '--detach', 'crawler']);
  await reaches(39, 2);
});
