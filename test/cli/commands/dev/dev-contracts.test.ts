// When nodes of a private network execute contracts, and with which limit of time.
import { createRequire } from 'node:module';
import t from 'tap';
import { contractSettings, devContracts } from '../../../../src/cli/commands/dev/dev-contracts.ts';
import { LEAST, read } from '../../../node/config/sample.ts';

const engine = 'unix:///engine.sock';

t.test('a call ends within a round', async (t) => {
  const settingsOf = async (text: string): Promise<string[]> =>
    contractSettings({ enabled: true, engine }, (await read(LEAST + text)).config);
  const least = ['docker-engine.enable=yes', `docker-engine.docker-host=${engine}`];
  const reads = 'docker-engine.rest-listen=0.0.0.0:0';
  const never = 'docker-engine.pull=never';
  const use = [...least, reads, never];
  const limit = (ms: number) => `docker-engine.execution-limits.timeout=${ms}ms`;

  const poa = (round: string) =>
    `ntp.fatal-timeout = 5m\nblockchain.consensus { type = poa, round-duration = ${round} }\n`;
  t.strictSame(await settingsOf(poa('1s')), [...use, limit(800)]);
  t.strictSame(await settingsOf(poa('10s')), use, 'longer than the default');
  const chosen = 'docker-engine.execution-limits.timeout = 500ms\n';
  t.strictSame(await settingsOf(poa('1s') + chosen), use, 'that of the file, where it is good');
  const listen = 'docker-engine.rest-listen = "127.0.0.1:1234"\n';
  const fixed = [...least, never];
  t.strictSame(await settingsOf(poa('10s') + listen), fixed, 'the address of the file');
  const pos = 'blockchain { consensus.type = pos, custom.genesis.average-block-delay = 2s }\n';
  t.strictSame(await settingsOf(pos), [...use, limit(1600)]);
  const from = 'docker-engine.allowed-images = ["team/*"]\n';
  const fetching = [...least, reads];
  t.strictSame(await settingsOf(poa('10s') + from), fetching, 'it fetches what the file allows');
});

t.test('no engine, no settings', async (t) => {
  const none = await devContracts('unix:///nowhere/docker.sock');
  t.match(none, {
    enabled: false,
    why: /No container engine answers at unix:.*: there is no such socket \(start Docker/,
  });
  t.strictSame(contractSettings(none, (await read(LEAST)).config), []);
  const loaded = (name: string) =>
    Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes(`/${name}/`));
  t.notOk(loaded('undici'), 'what would call the engine is not loaded');
  t.match(await devContracts('nonsense'), { enabled: false, why: /nonsense/ });
  t.ok(loaded('undici'));
});
