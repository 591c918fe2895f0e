/**
 * Confidential data between four real processes, with proxies that see every byte between them:
 * members of a policy get them, and no other node ever does.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { eventually } from './process.ts';
import { type NetworkNode, processNetwork } from './process-network.ts';
import { restOf } from './rest.ts';

const MIB = 1024 * 1024;
/** What may cross the connections of a node meanwhile, blocks and peers' chatter. */
const CHATTER_BYTES_MAX = 5 * MIB;

const network = await processNetwork(t, { nodes: 4, roundMs: 1000 });
const [a, b, c, d] = network.nodes as [NetworkNode, NetworkNode, NetworkNode, NetworkNode];
await Promise.all(network.nodes.map(({ start }) => start()));
await network.connected();

const hashOf = (bytes: Buffer): string =>
  base58.encode(createHash('sha256').update(bytes).digest());
const privately = ({ rest }: NetworkNode) => restOf(rest.url, network.privacyApiKey);

async function confirm(tx: JsonObject, nodes: readonly NetworkNode[]): Promise<string> {
  const { id } = await a.rest.broadcast(await a.rest.sign({ sender: a.owner.address, ...tx }));
  for (const { rest } of nodes) await rest.mined(id);
  return String(id);
}

const policy = (recipients: readonly NetworkNode[]): Promise<string> =>
  confirm(
    {
      type: 112,
      policyName: 'four processes',
      description: '',
      recipients: recipients.map(({ owner }) => owner.address),
      owners: [a.owner.address],
    },
    network.nodes.filter(({ isRunning }) => isRunning),
  );

const change = (policyId: string, opType: 'add' | 'remove', recipient: NetworkNode) =>
  confirm(
    { type: 113, policyId, opType, recipients: [recipient.owner.address], owners: [] },
    network.nodes,
  );

/** Resolves when the transaction is in a block of every node that runs. */
async function send(from: NetworkNode, policyId: string, bytes: Buffer): Promise<void> {
  const { status, body } = await privately(from).post('/privacy/sendData', {
    sender: from.owner.address,
    policyId,
    type: 'file',
    info: { filename: 'data', size: String(bytes.length), timestamp: 1, author: '', comment: '' },
    data: bytes.toString('base64'),
    hash: hashOf(bytes),
  });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  for (const node of network.nodes) {
    if (node.isRunning) await node.rest.mined((body as JsonObject)['id']);
  }
}

async function read(node: NetworkNode, bytes: Buffer): Promise<Buffer | undefined> {
  const { status, body } = await privately(node).get(`/privacy/getData/${hashOf(bytes)}`);
  return status === 200 ? Buffer.from(String(body), 'base64') : undefined;
}

const arrives = (node: NetworkNode, bytes: Buffer): Promise<true> =>
  eventually('the data', async () => (await read(node, bytes))?.equals(bytes) || undefined);

/** Pieces from all over the data, each too long to be met by chance. */
const samples = (bytes: Buffer): Buffer[] =>
  Array.from({ length: 16 }, (_, i) => {
    const at = Math.floor((i * bytes.length) / 16);
    return bytes.subarray(at, at + 24);
  });

const holds = (text: Buffer, bytes: Buffer): boolean =>
  samples(bytes).some((sample) => text.includes(sample));

/** Names of the files of a node that hold some of the bytes. */
function filesWith({ config }: NetworkNode, bytes: Buffer): string[] {
  const folder = dirname(config);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => holds(contentOf(file), bytes));
}

/** A file that is replaced meanwhile is no longer there. */
function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    return Buffer.alloc(0);
  }
}

const big = randomBytes(20 * MIB);
let policyId = '';

t.test('scenario 88: twenty MiB for the members and nobody else', async (t) => {
  policyId = await policy([a, b, c]);
  const [wiresOfB, wiresOfD] = [network.record(1), network.record(3)];
  await send(a, policyId, big);
  await arrives(b, big);
  await arrives(c, big);
  t.equal(await read(d, big), undefined, 'not at the fourth');
  const refused = await privately(d).get(`/privacy/${policyId}/getInfo/${hashOf(big)}`);
  t.match(refused, { status: 400, body: { error: 617 } }, 'which has asked for them in vain');

  t.strictSame(filesWith(a, big).length, 1);
  t.strictSame(filesWith(b, big).length, 1, 'the search finds what is there');
  t.strictSame(filesWith(d, big), [], 'nothing on the disk of the fourth');
  const crossed = wiresOfD();
  const size = crossed.reduce((sum, { length }) => sum + length, 0);
  t.ok(size > 0 && size < CHATTER_BYTES_MAX, `${size} bytes over its connections`);
  const all = [...crossed, ...wiresOfB()];
  t.notOk(
    all.some((bytes) => holds(bytes, big)),
    'nor in clear over any wire',
  );
});

t.test('scenario 91: added later, removed later', async (t) => {
  await change(policyId, 'add', d);
  await arrives(d, big);
  t.pass('it has all that was there before');
  await change(policyId, 'remove', d);
  const later = randomBytes(MIB);
  await send(a, policyId, later);
  await arrives(b, later);
  t.equal(await read(d, later), undefined, 'and gets nothing new');
  t.strictSame(filesWith(d, later), []);
  t.ok((await read(d, big))?.equals(big), 'but keeps what it has');
  const sync = await privately(d).post('/privacy/forceSync', { policy: policyId });
  t.match(sync, {
    status: 200,
    body: {
      result: 'error',
      message: `Address '${d.owner.address}' not in policy 'four processes'`,
    },
  });
});

t.test('scenario 90: who was not there fetches it when it comes back', async (t) => {
  await c.stop();
  const missed = randomBytes(MIB);
  await send(a, policyId, missed);
  await arrives(b, missed);
  await c.start();
  await arrives(c, missed);
  t.pass('after catching up');
});
