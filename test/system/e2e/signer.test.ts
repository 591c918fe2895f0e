// Two real nodes whose keys are with real signers, the one over a Unix socket, the other over mutual TLS: they make
// blocks and final ones; a signer is killed and started again; nothing of what is secret is in the logs.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { signerConnector } from '../../../src/adapters/signer/signer-socket.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import { base58 } from '../../../src/base/base58.ts';
import { encodeHex } from '../../../src/base/hex.ts';
import { headerHash } from '../../../src/block/header.ts';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { loadConfig } from '../../../src/cli/config-file.ts';
import { genesisBlock } from '../../../src/cli/genesis-block.ts';
import { consensusHash } from '../../../src/consensus/settings-hash.ts';
import { type Vote, voteBytes } from '../../../src/finality/votes/vote.ts';
import { networkSettings } from '../../../src/node/config/genesis-section.ts';
import { RemoteKeys } from '../../../src/signer/remote-keys.ts';
import { feature, presetFeatures } from '../../../src/tx/rules/features.ts';
import { certificates } from '../../adapters/signer/certificates.ts';
import { quiet } from '../../chain/chain-harness.ts';
import { run } from '../../cli/run.ts';
import { temporaryFolder } from './dev-node.ts';
import { family } from './network-folder.ts';
import { type Command, eventually, startCommand } from './process.ts';
import { agreed, processNetwork, scheme } from './process-network.ts';

t.setTimeout(600_000);

const ROUND_MS = 1_000;
const at = temporaryFolder(t);
const [port] = await freePorts(1);
const { files: pem } = certificates(at);
const socket = join(at, 'signer.sock');
const tls = (name: string): string[] => [
  'signer.host=127.0.0.1',
  `signer.port=${port}`,
  `signer.tls.cert=${pem[`${name}.crt`]}`,
  `signer.tls.key=${pem[`${name}.key`]}`,
  `signer.tls.ca=${pem['ca.crt']}`,
];
const places = (index: number, name: string): string[] =>
  index === 0 ? [`signer.socket=${socket}`] : tls(name);
const active = [...presetFeatures, feature.finality].map((id) => `"${id}":0`).join(',');
const finality = `blockchain.custom.functionality.pre-activated-features={${active}}`;

const { nodes, accounts, connected } = await processNetwork(t, {
  nodes: 2,
  roundMs: ROUND_MS,
  // The nodes have no key at all.
  set: (index) => [finality, `wallet.file=${at}/none`, ...places(index, 'node')],
});
const setOf = (index: number): string[] =>
  [`directory=${at}/signer-${index}`, finality, ...places(index, 'signer')].flatMap((one) => [
    '--set',
    one,
  ]);
const env = { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' };
const logs: (() => string)[] = [];

async function startSigner(index: number): Promise<Command> {
  const command = startCommand(t, ['signer', nodes[index]!.config, ...setOf(index)], { env });
  logs.push(command.stderr);
  await command.line('stderr', /signer\.listening/);
  return command;
}

const readiness = async (index: number) =>
  (await nodes[index]!.rest.get('/health/ready')).body as Record<string, unknown>;
const finalHeight = async (index: number): Promise<number> =>
  Number(((await nodes[index]!.rest.get('/blocks/final')).body as { height?: number }).height ?? 0);
const madeBy = async (index: number, since: number): Promise<boolean> => {
  const { rest, owner } = nodes[index]!;
  const height = await rest.height();
  const { body } = await rest.get(`/blocks/headers/seq/${Math.min(since, height)}/${height}`);
  const made = body as { generator: string; height: number }[];
  return made.some(({ generator, height: at }) => generator === owner.address && at >= since);
};

t.test('without notes a signer signs no block', async (t) => {
  const unready = await run(['signer', 'init', nodes[0]!.config, ...setOf(0)]);
  t.match(unready, { code: 2, stderr: /--new, --after or --note/ });
  for (const index of [0, 1]) {
    const words = ['signer', 'init', nodes[index]!.config, ...setOf(index), '--new'];
    const made = await run(words);
    t.equal(made.code, 0, made.stderr);
    t.match(await run(words), { code: 1, stderr: /exists already/ });
  }
});

const signers: Command[] = [];

t.test('both make blocks and vote, over a Unix socket and over mutual TLS', async (t) => {
  signers.push(await startSigner(0), await startSigner(1));
  await Promise.all(nodes.map(({ start }) => start()));
  await connected();
  t.equal(statSync(socket).mode & 0o777, 0o600);
  const height = await agreed(nodes, 8);
  await eventually('a final block', async () => (await finalHeight(0)) > 3 || undefined);
  for (const index of [0, 1]) {
    t.ok(await madeBy(index, height - 7), `blocks of node ${index + 1}`);
    t.match(await readiness(index), { signer: 'on' });
    for (const kind of ['block', 'vote', 'identity']) {
      t.match(logs[index]!(), new RegExp(`signer\\.signed.*"kind":"${kind}"`));
    }
  }
  const { rest, owner } = nodes[0]!;
  const text = await rest.post(`/addresses/signText/${owner.address}`, { message: 'hello' });
  t.equal(text.status, 200);
  const transfer = { type: 4, version: 2, sender: owner.address, recipient: owner.address };
  const body = { ...transfer, amount: 1, fee: 1_000_000, attachment: '' };
  const refused = await rest.post('/transactions/sign', body);
  t.match(refused, { status: 400, body: { error: 115, message: /signer\.types/ } });
});

t.test('another signer cannot begin on the same notes', async (t) => {
  const second = await run(['signer', nodes[0]!.config, ...setOf(0)], { env });
  t.match(second, { code: 75, stderr: /another process uses/ });
});

t.test('a signer is killed: its node says so, follows, and goes on by itself', async (t) => {
  signers[0]!.kill('SIGKILL');
  await signers[0]!.exit;
  await eventually('it is away', async () => {
    return (await readiness(0))['signer'] === 'away' || undefined;
  });
  await eventually(
    'it says so',
    () => nodes[0]!.log().includes('"event":"signer.away"') || undefined,
  );
  const height = await nodes[0]!.rest.height();
  await agreed(nodes, height + 3);
  signers[0] = await startSigner(0);
  await eventually('it is back', async () => (await readiness(0))['signer'] === 'on' || undefined);
  const back = await nodes[0]!.rest.height();
  await eventually('a block of it', async () => (await madeBy(0, back + 1)) || undefined);
  const before = await finalHeight(0);
  await eventually('finality', async () => (await finalHeight(0)) > before || undefined);
  t.notMatch(nodes[0]!.log(), /own-vote-unknown/);
});

t.test('what it has signed binds it after kill -9', async (t) => {
  await nodes[0]!.stop();
  const { config } = await loadConfig(nodes[0]!.config);
  const genesis = headerHash(genesisBlock(config).header, scheme);
  const address = scheme.addressFromText(nodes[0]!.owner.address);
  const vote = (height: number, fill: number): Uint8Array => {
    const of = (at: number) => ({ height: at, id: new Uint8Array(32).fill(fill) });
    const made: Vote = { genesis, ruleHash: genesis, source: of(height), target: of(height + 1) };
    return voteBytes(made, scheme);
  };
  const ask = async (message: Uint8Array): Promise<Uint8Array> => {
    const keys = new RemoteKeys(
      {
        genesis,
        consensus: consensusHash(networkSettings(config), scheme.fastHash),
        timeoutMs: 5_000,
      },
      { scheme, clock: systemClock(undefined), log: quiet, connect: signerConnector({ socket }) },
    );
    await keys.start();
    try {
      return await keys.sign('vote', address, message);
    } finally {
      keys.stop();
    }
  };
  const first = await ask(vote(100_000, 1));
  signers[0]!.kill('SIGKILL');
  await signers[0]!.exit;
  signers[0] = await startSigner(0);
  t.same(await ask(vote(100_000, 1)), first, 'the same vote has the same signature');
  await t.rejects(ask(vote(100_000, 2)), /a vote 100000 → 100001 after one/);
  await t.rejects(ask(vote(99_999, 1)), /after one/);
});

t.test('no log says what is secret', async (t) => {
  const { config } = await loadConfig(nodes[0]!.config);
  const secrets = accounts.flatMap(({ seed }) => {
    const { privateKey } = family.keyPairFromPhrase(seed);
    return [seed, base58.encode(privateKey), encodeHex(privateKey)];
  });
  if (config.wallet.password !== undefined) secrets.push(config.wallet.password);
  const texts = [...logs.map((log) => log()), ...nodes.map((node) => node.log())];
  for (const text of texts) t.notOk(secrets.some((secret) => text.includes(secret)));
});

t.test('SIGTERM ends a signer', async (t) => {
  for (const signer of signers) signer.kill('SIGTERM');
  const exits = await Promise.all(signers.map(({ exit }) => exit));
  t.strictSame(
    exits.map(({ code }) => code),
    [0, 0],
  );
  t.notOk(existsSync(socket));
});
