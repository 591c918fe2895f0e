// The screen of a node at its start: its settings, and what its owner still needs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { settingsScreen, startScreen } from '../../../src/cli/terminal/start-screen.ts';
import { read } from '../../node/config/sample.ts';
import { wholeNode } from '../../node/in-process.ts';
import { jsonLines, run } from '../run.ts';

const OWNER = '3MuZtp1u3EXWo228F211XHSu4Jv8Nr9keKz';
const TEXT = `owner-address = ${OWNER}
address-scheme-character = T
network.port = 7000
network.known-peers = ["10.0.0.1:6864"]
wallet.password = "hunter2"
privacy.storage { vendor = postgres, url = "postgres://db:5432/node", password = "hunter3" }
`;

t.test('the settings are logged before anything is opened, without secrets', async (t) => {
  const file = join(t.testdir({}), 'node.conf');
  writeFileSync(file, TEXT);
  const { code, stderr } = await run(['start', file]);
  t.equal(code, 1, 'it has no genesis block');
  const line = stderr.split('\n').find((one) => one.includes('"node.settings"')) ?? '';
  const given = { 'network.port': 7000, 'network.known-peers': ['10.0.0.1:6864'] };
  t.match(jsonLines(line)[0], { level: 'info', ...given, 'wallet.password': '***' });
  t.notMatch(line, 'miner.enable', 'nobody has given it');
  const { stderr: all } = await run(['start', file], { env: { LOG_LEVEL: 'debug' } });
  const inForce = all.split('\n').find((one) => one.includes('"node.settings-in-force"')) ?? '';
  t.match(jsonLines(inForce)[0], { level: 'debug', ...given, 'miner.enable': 'yes' });
  t.notMatch(stderr + all, /hunter[23]/);
});

t.test('a person sees those that were given', async (t) => {
  const { config, origins } = await read(TEXT);
  const screen = settingsScreen(config, origins);
  t.match(screen, 'network.port = 7000\n');
  t.match(screen, 'wallet.password = "***"');
  t.notMatch(screen, /hunter[23]|miner\.quorum/);
});

t.test('it says whether contracts are executed', async (t) => {
  const facts = {
    ...{ version: '1.1.0', chainId: 'T', genesisId: 'g', owner: OWNER, consensus: 'poa' },
    ...{ round: '1s', mining: true, height: 1, data: '/data' },
  };
  t.match(startScreen(facts), /Contracts +not executed here\n/);
  const executing = { ...facts, engine: 'unix:///engine.sock' };
  t.match(startScreen(executing), /Contracts +by unix:\/\/\/engine\.sock\n/);
});

t.test('it says what serves the interface', async (t) => {
  const facts = {
    ...{ version: '1.1.0', chainId: 'T', genesisId: 'g', owner: OWNER, consensus: 'poa' },
    ...{ round: '1s', mining: true, height: 1, data: '/data', listener: 'node:http (no addon)' },
  };
  t.notMatch(startScreen(facts), /Listener/, 'the interface is off');
  t.match(startScreen({ ...facts, rest: '127.0.0.1:80' }), /Listener +node:http \(no addon\)\n/);
});

t.test('an owner without balance or roles is warned of', async (t) => {
  const whole = await wholeNode(t);
  t.strictSame(whole.log.of('owner.no-balance'), []);
  t.strictSame(whole.log.of('owner.no-roles'), []);
  const { text, privateKey } = whole.newAccount('a stranger');
  const another = await wholeNode(t, {
    set: [`owner-address=${text}`, 'network.handshake-check=no'],
    around: (ports) => ({ ...ports, ownerKey: privateKey }),
  });
  t.strictSame(another.log.of('owner.no-balance'), [{ owner: text }]);
  t.strictSame(another.log.of('owner.no-roles'), [{ owner: text }]);
});
