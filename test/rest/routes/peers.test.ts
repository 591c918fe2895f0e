// Peers as clients see them: two whole nodes that meet on a network in memory.
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { utf8 } from '../../../src/base/bytes.ts';
import { misconduct } from '../../../src/base/faults/misconduct.ts';
import { AccessKeys } from '../../../src/rest/access-keys.ts';
import { cluster, PORT } from '../../network/cluster.ts';
import { exchangeJson } from '../fixtures/exchange-json.ts';
import { serveApi } from '../fixtures/memory-node.ts';

const API_KEY = 'open sesame';
const OFFENCE = 'a test says so';

t.test('two nodes that know each other', async (t) => {
  const network = await cluster(t, { miners: ['a', 'b'], others: ['c'] });
  const a = await network.start('a');
  const b = await network.start('b');
  await network.rounds(2);
  const { services } = a.node;
  const apiKeyHash = base58.encode(services.family.secureHash(utf8(API_KEY)));
  const settings = { apiKeyHash, privacyApiKeyHash: undefined, apiKeys: [] };
  const keys = new AccessKeys(settings, services.family, () => a.clock.now());
  const url = await serveApi(t, { ...services, keys });
  const get = (path: string) => exchangeJson('GET', url + path);
  const place = `/${b.host}:${PORT}`;

  t.match((await get('/peers/connected')).body, {
    peers: [
      {
        declaredAddress: place,
        peerName: 'b',
        applicationName: 'platform-node',
        applicationVersion: '1.1.0',
        applicationConsensus: 'poa',
        nodeOwnerAddress: b.text,
      },
    ],
  });
  t.match((await get('/peers/all')).body, { peers: [{ address: place, lastSeen: Number }] });
  t.strictSame((await get(`/peers/hostname/${b.text}`)).body, {
    hostname: b.host,
    ip: b.host,
    connected: true,
  });
  const absent = network.member('c');
  t.strictSame((await get(`/peers/hostname/${absent.text}`)).body, { connected: false });
  t.match((await get('/health/ready?minPeers=1')).body, { peers: 1 });
  t.strictSame((await get('/peers/allowedNodes')).body, {
    allowedNodes: ['a', 'b', 'c'].map(network.member).map(({ text, keys }) => ({
      address: text,
      publicKey: base58.encode(keys.publicKey),
      nodeName: text === b.text ? 'b' : '',
    })),
    timestamp: a.clock.now(),
  });

  const [session] = services.peers!.sessions.all();
  session!.offend('invalid-block', misconduct(OFFENCE));
  const hostname = `/${b.host}`;
  t.match((await get('/peers/blacklisted')).body, [{ hostname, reason: new RegExp(OFFENCE) }]);
  t.strictSame((await get('/peers/connected')).body, { peers: [] });
  const clear = (headers: Record<string, string>) =>
    exchangeJson('POST', `${url}/peers/clearblacklist`, headers, '');
  t.equal((await clear({})).status, 403);
  t.equal((await clear({ 'X-API-Key': API_KEY })).status, 200);
  t.strictSame((await get('/peers/blacklisted')).body, []);

  const connect = (host: string) =>
    exchangeJson(
      'POST',
      `${url}/peers/connect`,
      { 'X-API-Key': API_KEY },
      JSON.stringify({ host, port: PORT }),
    );
  t.strictSame((await connect(b.host)).body, { hostname: b.host, status: 'Trying to connect' });
  await network.seconds(1);
  t.match((await get('/peers/connected')).body, { peers: [{ peerName: 'b' }] });

  const nowhere = '10.9.9.9';
  await connect(nowhere);
  await network.seconds(30);
  t.match((await get('/peers/suspended')).body, [{ hostname: `/${nowhere}`, timestamp: Number }]);
});

t.test('a node that declares another name than the address that it calls from', async (t) => {
  const network = await cluster(t, { miners: ['a', 'b'] });
  const a = await network.start('a');
  const named = 'node-b.example';
  const b = await network.start('b', { set: [`network.declared-address=${named}:${PORT}`] });
  await network.rounds(2);
  const url = await serveApi(t, a.node.services);
  t.strictSame((await exchangeJson('GET', `${url}/peers/hostname/${b.text}`)).body, {
    hostname: named,
    ip: b.host,
    connected: true,
  });
});
