// Settings by which a node could give up what others take for decided, or one client keep others out.
import t from 'tap';
import { settingsHash } from '../../../src/consensus/settings-hash.ts';
import { createFamily } from '../../../src/crypto/families.ts';
import { networkSettings, sharedSettings } from '../../../src/node/config/genesis-section.ts';
import { allSettings } from '../../../src/node/config/settings.ts';
import { LEAST, OWNER_KEY, problems, read } from './sample.ts';

const { fastHash } = createFamily('curve25519');
const hashOf = async (text: string): Promise<string> => {
  const { config } = await read(LEAST + text);
  return Buffer.from(settingsHash(networkSettings(config), fastHash)).toString('hex');
};

t.test('nodes that take back more or fewer blocks refuse each other', async (t) => {
  const usual = await hashOf('');
  t.equal(await hashOf('synchronization.max-rollback = 100'), usual, 'as in older releases');
  const deep = await hashOf('synchronization.max-rollback = 150');
  t.not(deep, usual);
  t.not(await hashOf('synchronization.max-rollback = 50'), deep);
});

t.test('but a store may be opened with another depth', async (t) => {
  const { config } = await read(LEAST);
  t.notOk(Object.keys(sharedSettings(config)).some((key) => key.includes('rollback')));
});

t.test('undo records are kept for as many blocks as may be taken back', async (t) => {
  const at = (rollback: number, kept: number): string =>
    `${LEAST} synchronization.max-rollback = ${rollback}, storage.max-rollback-depth = ${kept}`;
  await read(at(500, 500));
  const refused = await problems(at(501, 500));
  t.match(refused.problems, [
    {
      key: 'storage.max-rollback-depth',
      value: '500',
      expected: 'expected at least synchronization.max-rollback = 501',
    },
  ]);
});

function network(miners: number, banned = 0): string {
  const other = `{ public-key = "${OWNER_KEY}", roles = [miner, banned] }`;
  const miner = `{ public-key = "${OWNER_KEY}", roles = [miner] }`;
  const list = Array.from({ length: miners + banned }, (_, i) => (i < miners ? miner : other));
  return `${LEAST} blockchain.custom.genesis.network-participants = [${list.join(', ')}]\n`;
}

t.test('config check says what a small quorum gives up', async (t) => {
  const warningsOf = async (miners: number, quorum?: number): Promise<readonly string[]> => {
    const setting = quorum === undefined ? '' : `miner.quorum = ${quorum}`;
    const { warnings } = await read(network(miners) + setting);
    return warnings.filter((text) => text.includes('quorum'));
  };
  t.strictSame(await warningsOf(4), []);
  t.strictSame(await warningsOf(1, 0), []);
  t.strictSame(await warningsOf(3, 1), []);
  t.strictSame(await warningsOf(4, 2), []);
  t.match(await warningsOf(4, 1), [
    /miner\.quorum = 1 is less than 2, .*majority of the 4 miners.*several parts make blocks/,
  ]);
  t.match(await warningsOf(2, 0), [/miner\.quorum = 0 is less than 1/]);
  t.strictSame((await read(`${network(1, 3)} miner.quorum = 0`)).warnings, []);
});

t.test('by default no client can take all places', (t) => {
  const defaults = new Map(allSettings.map(({ key, setting }) => [key, Number(setting.fallback)]));
  const ofClient = [...defaults.keys()].filter((key) => key.endsWith('-per-client'));
  t.ok(ofClient.includes('api.grpc.events.max-connections-per-client'));
  for (const key of ofClient) {
    const inAll = defaults.get(key.slice(0, -'-per-client'.length))!;
    t.ok(inAll >= 4 * defaults.get(key)!, key);
  }
  t.end();
});
