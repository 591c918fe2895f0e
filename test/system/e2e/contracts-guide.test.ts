/** The commands of the guide to contracts do what it says, line by line, with a real engine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sharedEngine } from '../../containers/engine.ts';
import { leftOut } from '../../left-out.ts';
import { walk } from './tour.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../docs/guide/contracts.md'), 'utf8');
const shared = await sharedEngine();
const skip = typeof shared === 'string' && leftOut(shared);
const host = typeof shared === 'string' ? '' : shared.host;

t.setTimeout(300_000);

t.test('five minutes', { skip }, async (t) => {
  const text = guide.slice(guide.indexOf('## Five minutes'), guide.indexOf('## Writing'));
  const started = performance.now();
  const { outputs, network, stop } = await walk(t, {
    text,
    folder: '/tmp/contracts',
    nodes: 4,
    env: { DOCKER_HOST: host },
  });
  const seconds = Math.round((performance.now() - started) / 1000);
  t.comment(`${seconds} s`);
  t.match(network.stdout(), /Contracts +executed, by the engine at unix:/);
  const all = outputs.join('\n');
  t.match(all, /"key":"balance-\w+","type":"integer","value":10/, 'Bob has got it');
  t.equal(all.match(/exit code 3/g)?.length, 2, 'refused twice');
  t.match(
    all,
    /The contract refused it: .*unfortunately has only 990 points/,
    'by the new version',
  );
  t.match(all, /"version":2,"active":true/);
  t.match(all, /"key":"sum","type":"integer","value":3/);
  t.match(all, /"type":106/);
  // The nodes take their containers with them.
  await stop();
});
