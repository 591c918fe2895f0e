// A sole miner under proof of stake, whose signer's answers are lost: the turn is that of the parent, and the signer has
// noted the block, so nothing but the same block continues the chain.
import t from 'tap';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { certificates } from '../../adapters/signer/certificates.ts';
import { run } from '../../cli/run.ts';
import { temporaryFolder } from './dev-node.ts';
import { type Command, eventually, startCommand } from './process.ts';
import { processNetwork } from './process-network.ts';
import { startProxy } from './tcp-proxy.ts';

t.setTimeout(600_000);

/** The signer outlives the test that starts it. */
const root = t;
const WAIT_MS = 120_000;
const at = temporaryFolder(t);
const [port] = await freePorts(1);
const { files: pem } = certificates(at);
const proxy = await startProxy(port!);
t.teardown(() => proxy.close());
const place = (name: string, of: number): string[] => [
  'signer.host=127.0.0.1',
  `signer.port=${of}`,
  `signer.tls.cert=${pem[`${name}.crt`]}`,
  `signer.tls.key=${pem[`${name}.key`]}`,
  `signer.tls.ca=${pem['ca.crt']}`,
];
const { nodes } = await processNetwork(t, {
  nodes: 1,
  roundMs: 1_000,
  consensus: 'pos',
  set: [`wallet.file=${at}/none`, 'signer.timeout=2s', ...place('node', proxy.port)],
});
const node = nodes[0]!;
const words = [`directory=${at}/signer`, ...place('signer', port!)].flatMap((one) => [
  '--set',
  one,
]);
const env = { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' };
let signer: Command;
const signed = (): number => signer.stderr().match(/signer\.signed.*"kind":"block"/g)?.length ?? 0;

async function goesOn(): Promise<void> {
  const height = (await node.rest.height()) + 2;
  await eventually(
    'more blocks',
    async () => (await node.rest.height()) >= height || undefined,
    WAIT_MS,
  );
}

/** From now on nothing of the signer arrives; resolves once it has signed another block. */
async function losesAnswer(): Promise<void> {
  const before = signed();
  proxy.back('held');
  await eventually('another signed block', () => signed() > before || undefined, WAIT_MS);
}

function heals(): void {
  proxy.refuse();
  proxy.back('open');
  proxy.allow();
}

t.test('it makes blocks', async (t) => {
  const made = await run(['signer', 'init', node.config, ...words, '--new']);
  t.equal(made.code, 0, made.stderr);
  signer = startCommand(root, ['signer', node.config, ...words], { env });
  await signer.line('stderr', /signer\.listening/);
  await node.start();
  await goesOn();
});

t.test('the answer is lost, and the connection with it', async () => {
  await losesAnswer();
  heals();
  await goesOn();
});

t.test('the answer comes after its time', async () => {
  const failures = () => node.log().match(/"event":"miner\.failed"/g)?.length ?? 0;
  const before = failures();
  await losesAnswer();
  await eventually('the end of its time', () => failures() > before || undefined, WAIT_MS);
  proxy.back('open');
  await goesOn();
});

t.test('the answer is lost, and the node is killed', async () => {
  await losesAnswer();
  await node.kill();
  heals();
  await node.start();
  await goesOn();
});

t.test('the signer was never asked for another block of a turn', async (t) => {
  t.notMatch(signer.stderr(), /another block has its turn/);
  await node.stop();
  signer.kill('SIGTERM');
  t.equal((await signer.exit).code, 0);
});
