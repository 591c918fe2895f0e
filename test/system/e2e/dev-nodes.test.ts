/** `platform-node dev --nodes`: a network of processes with one command. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { run } from '../../cli/run.ts';
import { type DevNetworkRun, startDevNetwork, temporaryFolder } from './dev-node.ts';
import { eventually } from './process.ts';

const generators = async ({ rests }: DevNetworkRun): Promise<Set<unknown>> => {
  const [rest] = rests;
  const height = await rest!.height();
  if (height < 2) return new Set();
  const { body } = await rest!.get(`/blocks/headers/seq/2/${height}`);
  return new Set((body as JsonObject[]).map(({ generator }) => generator));
};

/** Sends from the node `from`; resolves when the node `to` has it in a block. */
async function send({ rests, owners, accounts }: DevNetworkRun, from: number, to: number) {
  const transfer = { type: 4, version: 2, fee: 1_000_000, amount: 1, attachment: '' };
  const [sender, recipient] = [accounts.at(-1)!.address, owners[0]];
  const tx = await rests[from]!.sign({ ...transfer, sender, recipient });
  return rests[to]!.mined((await rests[from]!.broadcast(tx))['id']);
}

/** The process that has this word on its command line. */
function processOf(word: string): number {
  const found = readdirSync('/proc').find((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false; // it has ended meanwhile
    }
  });
  if (found === undefined) throw new Error(`no process with ${word}`);
  return Number(found);
}

t.test('four nodes by proof of authority', async (t) => {
  const dir = temporaryFolder(t);
  const network = await startDevNetwork(t, ['--nodes', '4', '--dir', dir, '--keep']);
  t.equal(new Set(network.owners).size, 4);
  t.equal(network.accounts.length, 8);
  for (const { get } of network.rests) {
    t.equal(((await get('/peers/connected')).body as { peers: [] }).peers.length, 3);
  }
  await t.test('the list says which node signs for an account', async (t) => {
    const { nodes } = JSON.parse(network.command.stdout()) as { nodes: { accounts: string[] }[] };
    for (const [i, { accounts }] of nodes.entries()) {
      const held = (await network.rests[i]!.get('/addresses')).body as string[];
      t.strictSame([...held].sort(), [...accounts].sort(), `node ${i + 1}`);
      t.equal(accounts.length, 5, 'its owner and the four accounts that own no node');
    }
  });
  await send(network, 1, 3);
  await eventually('blocks of all nodes', async () =>
    (await generators(network)).size === 4 ? true : undefined,
  );
  const height = await network.rests[0]!.height();

  await t.test('one that is asked to stop may stay away', async (t) => {
    t.equal((await network.rests[3]!.post('/node/stop')).status, 200);
    t.match(await network.command.line('stderr', /node 4/), /was stopped; the others go on/);
    await send(network, 0, 2);
  });
  t.strictSame(await network.stop(), { code: 0, signal: null });

  await t.test('a later run on the folder', async (t) => {
    const other = await run(['dev', '--dir', dir, '--keep', '--nodes', '3']);
    t.equal(other.code, 1);
    t.match(
      other.stderr,
      /has 4 nodes, consensus poa, international cryptography and finality, which cannot be changed/,
    );
    const again = await startDevNetwork(t, ['--dir', dir, '--keep']);
    t.strictSame(again.owners, network.owners);
    t.ok((await again.rests[3]!.height()) >= height - 1, 'goes on with the chain');

    await t.test('one that dies ends the network', async (t) => {
      process.kill(processOf(join(dir, 'node-2', 'node.conf')), 'SIGKILL');
      t.strictSame(await again.command.exit, { code: 1, signal: null });
      t.match(again.command.stderr(), /node 2 has ended: SIGKILL\n(.*\n)+\(.*node-2\/node\.log\)/);
    });
  });
});

t.test('two nodes by proof of stake, on a folder that nobody keeps', async (t) => {
  const env = { TMPDIR: temporaryFolder(t) };
  const network = await startDevNetwork(t, ['--nodes', '2', '--consensus', 'pos'], env);
  await send(network, 0, 1);
  t.match((await network.rests[1]!.get('/consensus/algo')).body, {
    consensusAlgo: 'Fair Proof-of-Stake (FairPoS)',
  });
  t.equal((await network.stop()).code, 0);
  t.strictSame(readdirSync(env.TMPDIR), []);
});

t.test('wrong usage', async (t) => {
  for (const [words, why] of [
    [['--nodes', '0'], /a number from 1 to 16/],
    [['--nodes', 'many'], /a number from 1 to 16/],
    [['--consensus', 'pow'], /Allowed choices are poa, pos/],
  ] as const) {
    const { code, stderr } = await run(['dev', ...words]);
    t.equal(code, 2);
    t.match(stderr, why);
  }
  const high = await run(['dev', '--nodes', '3', '--rest-port', '65534']);
  t.equal(high.code, 1);
  t.match(high.stderr, /There are no 3 ports from 65534/);
});
