// Quotas of confidential data: data are refused before the transfer, and fetched when there is
// room.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { filesShelf } from '../../src/adapters/private-store/files-shelf.ts';
import { verifiedStore } from '../../src/adapters/private-store/verified.ts';
import type { PrivateItem } from '../../src/base/private-store.ts';
import { DATA } from '../../src/privacy/privacy-messages.ts';
import { createQuota, type QuotaOptions } from '../../src/privacy/quota.ts';
import { temporaryFolder } from '../e2e/dev-node.ts';
import { memoryLog } from '../node/memory-ports.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { dataOf, held, members, sha256 } from './members.ts';

const MIB = 1024 * 1024;
const WIDE = { policyBytesMax: 1024 * MIB, totalBytesMax: 1024 * MIB, freeBytesMin: 0 };

function quota(options: Partial<QuotaOptions>, rows = createMemoryStore()) {
  const log = memoryLog();
  const refused: string[] = [];
  const shelf = filesShelf(temporaryFolder(t));
  const free = { bytes: 1024 * MIB };
  const store = { ...verifiedStore(shelf, log), freeBytes: async () => free.bytes };
  const ports = { store, rows, log, onRefused: (limit: string) => void refused.push(limit) };
  return { ...createQuota({ ...WIDE, ...options }, ports), log, refused, rows, free };
}

const item = (policy: number, bytes: Uint8Array): PrivateItem => ({
  policyId: new Uint8Array(32).fill(policy),
  hash: sha256(bytes),
  sender: new Uint8Array(26),
  type: 'file',
  filename: '',
  size: '',
  timestamp: 1n,
  author: '',
  comment: '',
});

async function* one(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

t.test('a quota is never exceeded, whatever comes at once', async (t) => {
  const made = quota({ policyBytesMax: 50 * MIB, totalBytesMax: 90 * MIB });
  const put = (policy: number): Promise<boolean> => {
    const bytes = randomBytes(15 * MIB);
    return made.store.write(item(policy, bytes), one(bytes)).then(
      () => true,
      () => false,
    );
  };
  const first = await Promise.all([put(1), put(1), put(1), put(1)]);
  t.ok(first.filter(Boolean).length <= 2, 'each transfer may be of the longest item');
  while (await put(1));
  t.ok(made.bytes() <= 50 * MIB);
  t.notOk(await made.has(new Uint8Array(32).fill(1)));
  t.ok(await made.has(new Uint8Array(32).fill(2)), 'another policy has its own');
  while (await put(2));
  while (await put(3));
  t.ok(made.bytes() <= 90 * MIB && made.bytes() > 60 * MIB);
  t.ok(made.refused.includes('policy-quota') && made.refused.includes('quota'));
  t.equal(new Set(made.log.of('privacy.no-room').map(({ policy }) => policy)).size, 3);
  const bytes = made.bytes();
  t.equal(quota({}, made.rows).bytes(), bytes, 'the count outlives a restart');
});

t.test('the same data again take no room, a full disk takes none', async (t) => {
  const made = quota({ freeBytesMin: 100 * MIB });
  const bytes = randomBytes(MIB);
  for (let i = 0; i < 3; i++) await made.store.write(item(1, bytes), one(bytes));
  t.equal(made.bytes(), MIB);
  made.free.bytes = 110 * MIB;
  await t.rejects(made.store.write(item(2, bytes), one(bytes)), /no room: free-space/);
  t.strictSame(made.refused, ['free-space']);
  made.free.bytes = 130 * MIB;
  t.ok(await made.has(new Uint8Array(32).fill(2)));
});

t.test('an item without room is not asked for, and comes when there is room', async (t) => {
  const network = await members(t, { miners: ['a'], others: ['b'] });
  const a = await network.keep('a');
  const free = { bytes: 10 * MIB };
  const b = await network.start('b', {
    set: ['privacy.synchronizer.lost-data-processing-delay=5s'],
    privateStore: async (log) => ({
      ...verifiedStore(filesShelf(temporaryFolder(t)), log),
      freeBytes: async () => free.bytes,
    }),
  });
  const policyId = await network.policy([a, b], [a, b]);
  const bytes = randomBytes(1000);
  let asked = 0;
  network.faults = ({ protocol }) => {
    if (protocol.endsWith(DATA)) asked++;
    return {};
  };
  await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
  await network.until('a refusal', () => b.log.of('privacy.no-room').length > 0);
  await network.seconds(60);
  t.equal(asked, 0, 'nobody is asked for what cannot be kept');
  t.match(b.log.of('privacy.no-room'), [{ limit: 'free-space' }]);
  t.strictSame(b.log.of('privacy.lost'), []);
  free.bytes = 4096 * MIB;
  await network.until('the data', async () => (await held(b, policyId, bytes)) !== undefined);
});
