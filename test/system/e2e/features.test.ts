/**
 * What a process does when the network activates a feature that this release does not implement.
 */
import t from 'tap';
import { networkFolder } from './network-folder.ts';
import { startCommand } from './process.ts';

const NO_PASSWORD = { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' };
const ACTIVE = '"3":0,"4":0,"5":0,"6":0,"7":0,"9":0,"10":0,"100":0,"101":0';
const WHY = /Features unknown to this node are active: 999/;

const start = async (t: Parameters<typeof networkFolder>[0], from: number, set: string[] = []) => {
  const { config } = await networkFolder(t);
  const features = `blockchain.custom.functionality.pre-activated-features={${ACTIVE},"999":${from}}`;
  const sets = [features, ...set].flatMap((one) => ['--set', one]);
  return startCommand(t, ['start', config, ...sets], { env: NO_PASSWORD });
};

t.test('scenario 112: the node stops with exit code 38 when it becomes active', async (t) => {
  const node = await start(t, 4);
  await node.line('stderr', /node\.started/);
  t.match(await node.line('stderr', /feature\.unknown-approved/), /999/);
  t.match(await node.exit, { code: 38 });
  t.match(node.stderr(), WHY);
  t.match(node.stderr(), /node\.stopped/, 'in good order');
});

t.test('scenario 112: it does not start where it is active already', async (t) => {
  const node = await start(t, 0);
  t.match(await node.exit, { code: 38 });
  t.match(node.stderr(), WHY);
  t.notMatch(node.stderr(), /node\.started/);
});

t.test('without the shutdown it goes on', async (t) => {
  const node = await start(t, 3, ['features.auto-shutdown-on-unsupported-feature=no']);
  await node.line('stderr', /feature\.unknown-active/);
  node.kill('SIGTERM');
  t.match(await node.exit, { code: 0 });
});
