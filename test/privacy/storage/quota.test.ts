// Quotas of confidential data: data are refused before the transfer, and fetched when there is
// room.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { filesShelf } from '../../../src/adapters/private-store/files-shelf.ts';
import { verifiedStore } from '../../../src/adapters/private-store/verified.ts';
import { base58 } from '../../../src/base/base58.ts';
import type { PrivateItem } from '../../../src/base/ports/private-store.ts';
import { Reader } from '../../../src/codec/codec.ts';
import { meta, privateStored } from '../../../src/ledger/tables.ts';
import type { Privacy } from '../../../src/privacy/privacy-service.ts';
import { itemOfBytes } from '../../../src/privacy/protocol/item-id.ts';
import { DATA } from '../../../src/privacy/protocol/privacy-messages.ts';
import {
  createSearch,
  NEXT_PART_MS,
  Quota,
  type QuotaOptions,
  SEARCH_EVERY_MS,
} from '../../../src/privacy/storage/quota.ts';
import { ITEM_BYTES_MIN, sumsOf } from '../../../src/privacy/storage/stored-bytes.ts';
import { scheme, testClock } from '../../chain/chain-harness.ts';
import { seededRandom } from '../../crypto/random.ts';
import { memoryLog } from '../../node/memory-ports.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';
import { temporaryFolder } from '../../system/e2e/dev-node.ts';
import { dataOf, held, members, sha256 } from '../members.ts';

t.setTimeout(120_000);

const MIB = 1024 * 1024;
const WIDE: QuotaOptions = {
  policyBytesMax: 1024 * MIB,
  accountBytesMax: 1024 * MIB,
  totalBytesMax: 1024 * MIB,
  freeBytesMin: 0,
  acceptedCreators: [],
};

/** An account, by its number. */
const by = (account: number): Uint8Array => new Uint8Array(26).fill(account);
const OWN = by(99);
/** The policies 10 to 19 are of the account 1, and so on. */
const creatorOf = (policyId: Uint8Array): Uint8Array => by(Math.floor(policyId[0]! / 10));

function quota(
  options: Partial<QuotaOptions>,
  rows = createMemoryStore(),
  folder = temporaryFolder(t),
) {
  const log = memoryLog();
  const refused: string[] = [];
  const shelf = filesShelf(folder);
  const free = { bytes: 1024 * MIB };
  const store = { ...verifiedStore(shelf, log), freeBytes: async () => free.bytes };
  const onRefused = (limit: string) => void refused.push(limit);
  const ports = { store, rows, log, scheme, creatorOf, onRefused, ownerAddress: OWN };
  const made = new Quota({ ...WIDE, ...options }, ports);
  const has = async (policy: number, sender = by(0)): Promise<boolean> =>
    (await made.refusal({ ...item(policy, NONE), sender })) === undefined;
  const put = async (policy: number, sender: number, bytes: Uint8Array): Promise<void> =>
    made.store.write(item(policy, bytes, by(sender)), one(bytes));
  return Object.assign(made, { has, put, log, refused, rows, free, folder });
}

const NONE = new Uint8Array(0);
const FIRST = new Uint8Array(0);
const LAST = new Uint8Array(128).fill(0xff);
const item = (policy: number, bytes: Uint8Array, sender = by(0)): PrivateItem => ({
  policyId: new Uint8Array(32).fill(policy),
  hash: sha256(bytes),
  sender,
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
  t.notOk(await made.has(1));
  t.ok(await made.has(2), 'another policy has its own');
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
  t.ok(await made.has(2));
});

t.test('an account answers for the policies that it has created', async (t) => {
  const made = quota({ accountBytesMax: 25 * MIB });
  const put = (policy: number, sender: number): Promise<void> => {
    const bytes = randomBytes(2 * MIB);
    return made.store.write(item(policy, bytes, by(sender)), one(bytes));
  };
  for (const [policy, sender] of [
    [10, 3],
    [11, 4],
    [12, 5],
  ] as const) {
    await put(policy, sender);
  }
  await t.rejects(put(13, 6), /no room: creator-quota/, 'however many policies and senders');
  t.notOk(await made.has(14));
  t.ok(await made.has(20), 'another account has a share of its own');
  await put(20, 3);
});

t.test('an account answers for the data that it has bound', async (t) => {
  const made = quota({ accountBytesMax: 25 * MIB });
  const put = (policy: number, sender: number): Promise<void> => {
    const bytes = randomBytes(2 * MIB);
    return made.store.write(item(policy, bytes, by(sender)), one(bytes));
  };
  for (const policy of [10, 20, 30]) await put(policy, 7);
  await t.rejects(put(40, 7), /no room: sender-quota/, 'whoever has created the policies');
  t.notOk(await made.has(10, by(7)));
  t.ok(await made.has(10, by(8)), 'the other members go on');
});

t.test('a member leaves half of the room of a policy, and of its creator, to others', async (t) => {
  const made = quota({ policyBytesMax: 90 * MIB, accountBytesMax: 100 * MIB });
  const put = (policy: number, sender: number) => made.put(policy, sender, randomBytes(10 * MIB));
  for (let i = 0; i < 3; i++) await put(10, 7);
  await t.rejects(put(10, 7), /no room: member-share/, 'in a policy');
  await put(11, 7);
  await t.rejects(put(12, 7), /no room: member-share/, 'in all policies of a creator');
  await put(12, 8);
  await put(20, 7);
  const own = quota({ policyBytesMax: 90 * MIB, accountBytesMax: 100 * MIB });
  for (let i = 0; i < 5; i++) await own.put(10, 1, randomBytes(10 * MIB));
  t.pass('the creator itself may use more');
});

t.test('what this node binds itself takes the room of no other account', async (t) => {
  const small = { policyBytesMax: 25 * MIB, accountBytesMax: 25 * MIB, acceptedCreators: [by(1)] };
  const made = quota({ ...small, totalBytesMax: 59 * MIB });
  for (let i = 0; i < 4; i++) await made.put(10, 99, randomBytes(8 * MIB));
  t.ok(await made.has(10, by(7)), 'neither of the policy nor of its creator');
  await made.put(20, 99, randomBytes(8 * MIB));
  await t.rejects(made.put(10, 99, randomBytes(8 * MIB)), /no room: quota/, 'all have a limit');
});

t.test('the smallest items count for what they take', async (t) => {
  const made = quota({});
  await made.put(10, 7, randomBytes(1));
  t.equal(made.bytes(), ITEM_BYTES_MIN);
});

t.test('what a crash left uncounted counts when it is found', async (t) => {
  const made = quota({});
  const bytes = randomBytes(MIB);
  await made.put(10, 7, bytes);
  const after = quota({}, createMemoryStore(), made.folder);
  t.equal(after.bytes(), 0);
  for (let i = 0; i < 2; i++) await after.found(item(10, bytes, by(7)));
  await after.found(item(10, randomBytes(5), by(7)));
  t.equal(after.bytes(), MIB, 'once, and nothing that is not there');
});

t.test('after any stores, deletions and restarts the sums are those of the items', async (t) => {
  const random = seededRandom('sums');
  const dice = (sides: number): number => random.bytes(1)[0]! % sides;
  const all = Array.from({ length: 12 }, (_, i) => random.bytes(1000 * (1 + i)));
  let made = quota({});
  const { rows, folder } = made;
  for (let step = 0; step < 300; step++) {
    const [policy, bytes] = [10 * (1 + dice(2)) + dice(2), all[dice(all.length)]!];
    const of = { name: base58.encode(new Uint8Array(32).fill(policy)), sender: 1 + dice(3) };
    const kind = dice(8);
    if (kind < 4) await made.put(policy, of.sender, bytes);
    else if (kind < 6) rmSync(join(folder, of.name, base58.encode(sha256(bytes))), { force: true });
    else if (kind === 6) while (await made.forgetDeleted(() => false));
    else made = quota({}, rows, folder);
  }
  while (await made.forgetDeleted(() => false));
  const sums = new Map<string, bigint>();
  let items = 0;
  for (const [key, row] of rows.range(privateStored.id, FIRST, LAST, 1000)) {
    const value = privateStored.value.read(new Reader(row, scheme));
    items++;
    for (const sum of sumsOf({ ...itemOfBytes(key), ...value })) {
      sums.set(sum, (sums.get(sum) ?? 0n) + BigInt(value.bytes));
    }
  }
  const kept = new Map(
    [...rows.range(meta.id, FIRST, LAST, 1000)].map(([key, value]) => [
      Buffer.from(key).toString(),
      Buffer.from(value).readBigUInt64BE(),
    ]),
  );
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  t.equal(items, files.filter((one) => one.isFile()).length, 'a row for each item');
  t.ok(items > 5);
  t.strictSame([...kept].sort(), [...sums].sort());
});

t.test('what is deleted no longer counts', async (t) => {
  const made = quota({ policyBytesMax: 25 * MIB, accountBytesMax: 25 * MIB });
  const all = Array.from({ length: 3 }, () => randomBytes(2 * MIB));
  const put = (bytes: Uint8Array) => made.store.write(item(10, bytes, by(7)), one(bytes));
  for (const bytes of all) await put(bytes);
  t.notOk(await made.has(10, by(7)));
  await made.forgetDeleted(() => false);
  t.equal(made.bytes(), 6 * MIB, 'what is there counts');
  const policy = base58.encode(new Uint8Array(32).fill(10));
  for (const bytes of all.slice(1)) rmSync(join(made.folder, policy, base58.encode(sha256(bytes))));
  await made.forgetDeleted(() => true);
  t.equal(made.bytes(), 6 * MIB, 'a stop ends the search');
  await made.forgetDeleted(() => false);
  t.equal(made.bytes(), 2 * MIB);
  t.ok(await made.has(10, by(7)), 'by every sum');
  await put(all[1]!);
  t.equal(made.bytes(), 4 * MIB, 'what comes back counts again');
  rmSync(join(made.folder, policy, base58.encode(sha256(all[1]!))));
  await put(all[1]!);
  t.equal(made.bytes(), 4 * MIB, 'once');
  const wide = quota({}, made.rows);
  const twice = [...all, ...all].map((bytes) => item(10, bytes, by(7)));
  await Promise.all(twice.map((it, i) => wide.store.write(it, one(all[i % 3]!))));
  t.equal(wide.bytes(), 6 * MIB, 'whatever comes at once');
});

t.test('a search goes through all items in parts', async (t) => {
  const made = quota({});
  const many = Array.from({ length: 1_010 }, (_, i) => Buffer.from(`item ${i}`));
  for (const bytes of many) await made.store.write(item(10, bytes), one(bytes));
  const deleted = randomBytes(100);
  await made.store.write(item(11, deleted), one(deleted));
  const folder = (policy: number): string =>
    join(made.folder, base58.encode(new Uint8Array(32).fill(policy)));
  rmSync(folder(11), { recursive: true });
  t.ok(await made.forgetDeleted(() => false));
  t.equal(made.bytes(), 1_011 * ITEM_BYTES_MIN);
  t.notOk(await made.forgetDeleted(() => false), 'goes on behind those that are there');
  t.equal(made.bytes(), 1_010 * ITEM_BYTES_MIN);
  rmSync(folder(10), { recursive: true });
  t.ok(await made.forgetDeleted(() => false), 'begins again');
  t.equal(made.bytes(), 10 * ITEM_BYTES_MIN);
  t.notOk(await made.forgetDeleted(() => false));
  t.equal(made.bytes(), 0);
});

t.test('the parts of a round follow each other at once', async (t) => {
  const pauses: number[] = [];
  let go = (): void => {};
  const after = (ms: number, action: () => void): (() => void) => {
    pauses.push(ms);
    go = action;
    return () => {};
  };
  let parts = 0;
  const search = createSearch(async () => ++parts % 3 !== 0, { ...testClock(0), after });
  search.start();
  for (let i = 0; i < 4; i++) {
    go();
    await setImmediate();
  }
  const [round, next] = [SEARCH_EVERY_MS, NEXT_PART_MS];
  t.strictSame(pauses, [round, next, next, round, next]);
  await search.stop();
});

t.test('accounts that are not accepted', async (t) => {
  const made = quota({ acceptedCreators: [by(1), by(2)] });
  const bytes = randomBytes(100);
  for (const policy of [10, 20]) await made.store.write(item(policy, bytes), one(bytes));
  await t.rejects(made.store.write(item(30, bytes), one(bytes)), /no room: not-accepted/);
  t.notOk(await made.has(30, by(1)), 'whoever sends');
  t.equal(made.log.of('privacy.not-accepted').length, 1);
});

t.test('a participant that fills its share leaves room for others', async (t) => {
  const network = await members(t, { miners: ['a', 'mallory'], others: ['b', 'c'] });
  const a = await network.keep('a');
  const mallory = await network.keep('mallory');
  const settings = ['quota=24MiB', 'account-quota=21MiB'].map((one) => `privacy.storage.${one}`);
  const retry = 'privacy.synchronizer.lost-data-processing-delay=5s';
  const b = await network.keep('b', { set: [...settings, retry] });
  const c = await network.keep('c', { set: [`privacy.storage.accepted-creators=["${a.text}"]`] });
  const nodes = [a, mallory, b, c];
  const bad = await network.policy([mallory, b, c], nodes);
  const good = await network.policy([a, b, c], nodes);
  const items = Array.from({ length: 6 }, () => randomBytes(MIB));
  for (const bytes of items) {
    await mallory.node.services.privacy!.send(dataOf(mallory, bad, bytes), true);
  }
  const stored = () =>
    readdirSync(join(b.folder, base58.encode(bad)), { withFileTypes: true }).map(
      ({ name }) => name,
    );
  await network.until('a refusal', () => b.log.of('privacy.no-room').length > 0);
  t.match(b.log.of('privacy.no-room'), [{ policy: base58.encode(bad), limit: 'creator-quota' }]);
  const bytes = randomBytes(1000);
  await a.node.services.privacy!.send(dataOf(a, good, bytes), true);
  for (const node of [b, c]) {
    await network.until('the data', async () => (await held(node, good, bytes)) !== undefined);
  }
  t.ok(stored().length <= 2);
  await network.until('the other', () => c.log.of('privacy.not-accepted').length > 0);
  t.notOk(readdirSync(c.folder).includes(base58.encode(bad)));
  t.strictSame(c.log.of('privacy.lost'), []);

  for (const name of stored()) rmSync(join(b.folder, base58.encode(bad), name));
  await network.seconds(SEARCH_EVERY_MS / 1000);
  await network.until('other data', () => stored().length > 0);
  t.pass('room that an operator makes is used');
});

t.test('what an operator puts back counts again with forceSync', async (t) => {
  const network = await members(t, { miners: ['a'] });
  const a = await network.keep('a');
  const privacy = a.node.services.privacy as Privacy;
  const policy = await network.policy([a], [a]);
  const bytes = randomBytes(100_000);
  await privacy.send(dataOf(a, policy, bytes), true);
  await network.until('the block', () => a.node.pool.size() === 0);
  const [file, backup] = [base58.encode(sha256(bytes)), 'of-the-operator'].map((name) =>
    join(a.folder, base58.encode(policy), name),
  );
  renameSync(file!, backup!);
  await network.seconds(SEARCH_EVERY_MS / 1000);
  await network.until('the search', () => privacy.bytes() === 0);
  renameSync(backup!, file!);
  t.strictSame(await privacy.sync(), { restarted: 0 });
  await network.until('its count', () => privacy.bytes() === bytes.length);

  renameSync(file!, backup!);
  await network.seconds(SEARCH_EVERY_MS / 1000);
  await network.until('the search', () => privacy.bytes() === 0);
  const changed = readFileSync(backup!);
  changed[changed.length - 1]! ^= 1;
  writeFileSync(file!, changed);
  await privacy.sync();
  await network.until('the damage', () => privacy.queue().pending === 1);
  t.equal(privacy.bytes(), 0, 'damaged data do not count, and are fetched');
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
