// Keys and addresses of a private network, printed again: while it runs, and from a folder that was kept.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { jsonLines, run } from '../../cli/run.ts';
import { startDevNode, temporaryFolder } from './dev-node.ts';
import { startCommand } from './process.ts';

t.test('of a folder, while it runs and afterwards', async (t) => {
  const dir = temporaryFolder(t);
  const none = await run(['dev', 'info', '--dir', dir]);
  t.match([none.code, none.stderr], [1, /there is no network of `dev` in/]);
  const node = await startDevNode(t, { dir });
  const { accounts, apiKey, chainId } = node;
  const known = { folder: dir, chainId, accounts: accounts.map(({ seed }) => ({ seed })) };
  const asked = await run(['dev', 'info', '--dir', dir]);
  const [info] = jsonLines(asked.stdout) as { nodes?: { rest?: string }[] }[];
  t.match(info, { ...known, running: true, nodes: [{ apiKey }] }, asked.stderr);
  const answer = await fetch(`${info?.nodes?.[0]?.rest}/node/version`);
  t.equal(answer.status, 200);
  const second = startCommand(t, ['dev', '--no-data', '--dir', dir, '--keep', '--rest-port', '0']);
  t.equal((await second.exit).code, 75);
  const still = jsonLines((await run(['dev', 'info', '--dir', dir])).stdout)[0];
  t.match(still, { running: true }, 'another process that does not start forgets nothing');
  await node.stop();
  const [after] = jsonLines((await run(['dev', 'info', '--dir', dir])).stdout);
  t.match(after, { ...known, running: false });
  t.notMatch(JSON.stringify(after), /"rest"/);
  t.notOk(readdirSync(dir).includes('dev-running.json'));
});

t.test('of the network that runs in a temporary folder', async (t) => {
  const TMPDIR = join(temporaryFolder(t), 'tmp');
  mkdirSync(TMPDIR);
  const env = { TMPDIR };
  const none = await run(['dev', 'info'], { env });
  t.match([none.code, none.stderr], [1, /no network of `dev` runs in a temporary folder/]);
  const dev = startCommand(t, ['dev', '--no-data', '--rest-port', '0', '--json'], { env });
  const ready = JSON.parse(await dev.line('stdout', /"ready":true/));
  const { ready: _, ...facts } = ready;
  const [info] = jsonLines((await run(['dev', 'info'], { env })).stdout);
  t.match(info, { running: true, ...facts });
  dev.kill('SIGTERM');
  t.equal((await dev.exit).code, 0);
  t.equal((await run(['dev', 'info'], { env })).code, 1);
});
