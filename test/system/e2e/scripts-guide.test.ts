/** The commands of the guide to scripts do what it says, line by line. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { walk } from './tour.ts';

const text = readFileSync(join(import.meta.dirname, '../../../docs/guide/scripts.md'), 'utf8');

t.setTimeout(300_000);

t.test('from several signatures to an oracle', async (t) => {
  const { outputs, stop } = await walk(t, { text, folder: '/tmp/scripts' });
  const all = outputs.join('\n');
  t.match(all, /"complexity":\d+,"extraFee":400000/);
  t.match(all, /Transaction is not allowed by account-script[\s\S]*exit code 1/, 'one signature');
  t.match(all, /Transaction is not allowed by token-script[\s\S]*exit code 1/, 'not on the list');
  t.match(all, /extract\(\) called on unit value[\s\S]*exit code 1/, 'no word of the oracle');
  t.equal(all.match(/exit code 1/g)?.length, 3);
  await stop();
});
