/** Requirements for every PrivateStore (src/base/ports/private-store.ts), run against each vendor. */
import { createHash } from 'node:crypto';
import type { Test } from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { equal } from '../../src/base/bytes.ts';
import {
  PRIVATE_DATA_BYTES_MAX,
  type PrivateItem,
  type PrivateStore,
  PrivateStoreError,
} from '../../src/base/ports/private-store.ts';
import { seededRandom } from '../crypto/random.ts';
import { type MemoryLog, memoryLog } from '../node/memory-ports.ts';

export interface VendorUnderTest {
  /** A store on what earlier ones of this vendor left behind. */
  open(log: MemoryLog): Promise<PrivateStore>;
  /** Changes a byte of stored data behind the store's back. */
  damage(item: PrivateItem): Promise<void>;
  /** The storage is away from now on. */
  fail(): Promise<void>;
}

const random = seededRandom('confidential data');
const SECRET = 'the word that no log may hold';
const PIECE_BYTES = 64 * 1024;

export const sha256 = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha256').update(bytes).digest());

/** An item of these data, of a policy of its own unless told. */
export function itemOf(data: Uint8Array, policyId = random.bytes(32)): PrivateItem {
  return {
    policyId,
    hash: sha256(data),
    sender: random.bytes(26),
    type: 'file',
    filename: 'Договор №100/5 "final".doc',
    size: String(data.length),
    timestamp: 9_007_199_254_740_993n,
    author: 'a@b.c',
    comment: `${SECRET}\n\u0001\\ 🗝`,
  };
}

export async function* inPieces(data: Uint8Array): AsyncIterable<Uint8Array> {
  for (let at = 0; at < data.length; at += PIECE_BYTES) yield data.subarray(at, at + PIECE_BYTES);
}

/** The whole data, undefined where the store has none. */
export async function contentOf(
  store: PrivateStore,
  { policyId, hash }: PrivateItem,
): Promise<Uint8Array | undefined> {
  const stored = await store.read(policyId, hash);
  if (stored === undefined) return undefined;
  const pieces: Uint8Array[] = [];
  for await (const piece of stored.pieces) pieces.push(piece);
  const bytes = new Uint8Array(Buffer.concat(pieces));
  if (bytes.length !== stored.length) throw new Error('the length is not that of the data');
  return bytes;
}

/** The store has exactly these data. An assertion on each of a million elements takes its time. */
export async function holds(
  store: PrivateStore,
  item: PrivateItem,
  data: Uint8Array,
): Promise<boolean> {
  const content = await contentOf(store, item);
  return content !== undefined && equal(content, data);
}

/** Runs everything on one vendor, whose storage is away afterwards. */
export async function privateStoreCompliance(t: Test, vendor: VendorUnderTest): Promise<void> {
  const log = memoryLog();
  let store = await vendor.open(log);

  const absent = async (t: Test, item: PrivateItem): Promise<void> => {
    t.equal(await store.info(item.policyId, item.hash), undefined);
    t.equal(await store.read(item.policyId, item.hash), undefined);
    t.strictSame(await store.policiesOf(item.hash), []);
  };
  const refused = async (
    t: Test,
    item: PrivateItem,
    pieces: AsyncIterable<Uint8Array>,
  ): Promise<unknown> => {
    const cause = await store.write(item, pieces).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    t.ok(cause instanceof Error, 'the write is refused');
    return cause;
  };

  await t.test('what is written is read back', async (t) => {
    for (const length of [0, 1, PIECE_BYTES, 1_000_003]) {
      const data = random.bytes(length);
      const item = itemOf(data);
      await absent(t, item);
      await store.write(item, inPieces(data));
      t.strictSame(await store.info(item.policyId, item.hash), item);
      t.strictSame(await store.policiesOf(item.hash), [item.policyId]);
      t.ok(await holds(store, item, data), `${length} bytes`);
    }
  });

  await t.test('policies share a hash and nothing else', async (t) => {
    const data = random.bytes(500);
    const [one, other] = [itemOf(data), { ...itemOf(data), filename: 'other' }];
    await store.write(one, inPieces(data));
    t.equal(await store.info(other.policyId, other.hash), undefined);
    await store.write(other, inPieces(data));
    t.equal((await store.info(one.policyId, one.hash))?.filename, one.filename);
    t.equal((await store.info(other.policyId, other.hash))?.filename, 'other');
    const texts = (await store.policiesOf(one.hash)).map(base58.encode);
    t.strictSame(texts.sort(), [one.policyId, other.policyId].map(base58.encode).sort());
  });

  await t.test('writing again is fine, also at the same time', async (t) => {
    const data = random.bytes(200_000);
    const item = itemOf(data);
    await Promise.all(Array.from({ length: 6 }, () => store.write(item, inPieces(data))));
    await store.write({ ...item, comment: 'second' }, inPieces(data));
    t.equal((await store.info(item.policyId, item.hash))?.comment, 'second');
    t.ok(await holds(store, item, data));
  });

  await t.test('twelve items at once', async (t) => {
    const all = Array.from({ length: 12 }, (_, i) => random.bytes(100_000 + i));
    const items = all.map((data) => itemOf(data));
    await Promise.all(items.map((item, i) => store.write(item, inPieces(all[i]!))));
    const found = await Promise.all(items.map((item, i) => holds(store, item, all[i]!)));
    t.notOk(found.includes(false));
  });

  await t.test('other data than the hash says', async (t) => {
    const data = random.bytes(100_000);
    const item = itemOf(data);
    const changed = data.slice();
    changed[50_000]! ^= 1;
    for (const wrong of [changed, data.subarray(1), new Uint8Array()]) {
      const cause = await refused(t, item, inPieces(wrong));
      t.match(cause, { kind: 'hash', answer: { code: 199, status: 400 } });
      const texts = `Actual '${base58.encode(sha256(wrong))}', expected '${base58.encode(item.hash)}'`;
      t.equal((cause as PrivateStoreError).answer.message, `Invalid data hash. ${texts}`);
    }
    await absent(t, item);
    await store.write(item, inPieces(data));
    await refused(t, item, inPieces(changed));
    t.ok(await holds(store, item, data), 'what was there before stays');
  });

  await t.test('the largest data, and a byte more', async (t) => {
    const data = new Uint8Array(PRIVATE_DATA_BYTES_MAX + 1);
    data.set(random.bytes(1000), PRIVATE_DATA_BYTES_MAX - 999);
    const tooMuch = itemOf(data);
    const cause = await refused(t, tooMuch, inPieces(data));
    t.match(cause, { kind: 'length', answer: { code: 607, status: 400 } });
    await absent(t, tooMuch);
    const largest = data.subarray(0, PRIVATE_DATA_BYTES_MAX);
    const item = itemOf(largest);
    await store.write(item, inPieces(largest));
    t.ok(await holds(store, item, largest));
  });

  await t.test('a sender that breaks off', async (t) => {
    const data = random.bytes(300_000);
    const item = itemOf(data);
    const gone = new Error('connection lost');
    const broken = async function* (): AsyncIterable<Uint8Array> {
      yield data.subarray(0, 200_000);
      throw gone;
    };
    t.equal(await refused(t, item, broken()), gone, 'its own error comes through');
    await absent(t, item);
    t.strictSame(log.of('privacy.storage-failed'), [], 'the storage is not blamed');
  });

  await t.test('readers that stop early', async (t) => {
    const data = random.bytes(1_000_000);
    const item = itemOf(data);
    await store.write(item, inPieces(data));
    for (let i = 0; i < 8; i++) {
      const stored = await store.read(item.policyId, item.hash);
      t.equal(stored?.length, data.length);
      if (i % 2 === 0) continue;
      for await (const piece of stored!.pieces) {
        t.ok(piece.length > 0);
        break;
      }
    }
    t.ok(await holds(store, item, data));
  });

  await t.test('damage counts as absence until the data are written again', async (t) => {
    const data = random.bytes(400_000);
    const [item, whole] = [itemOf(data), itemOf(data)];
    await store.write(item, inPieces(data));
    await store.write(whole, inPieces(data));
    await vendor.damage(item);
    t.equal(await store.read(item.policyId, item.hash), undefined);
    t.equal(await store.info(item.policyId, item.hash), undefined);
    t.strictSame(await store.policiesOf(item.hash), [whole.policyId]);
    const [line, ...more] = log.of('privacy.damaged');
    t.match(line, { policy: base58.encode(item.policyId), hash: base58.encode(item.hash) });
    t.strictSame(more, []);
    await store.write(item, inPieces(data));
    t.ok(await holds(store, item, data));
    t.strictSame(await store.info(item.policyId, item.hash), item);
  });

  await t.test('everything outlives the process', async (t) => {
    const data = random.bytes(70_000);
    const item = itemOf(data);
    await store.write(item, inPieces(data));
    await store.stop();
    store = await vendor.open(log);
    t.ok(await holds(store, item, data));
    t.strictSame(await store.info(item.policyId, item.hash), item);
  });

  await t.test('a storage that is away', async (t) => {
    const data = random.bytes(100_000);
    const item = itemOf(data);
    await store.write(item, inPieces(data));
    await vendor.fail();
    const calls: readonly Promise<unknown>[] = [
      store.info(item.policyId, item.hash),
      store.policiesOf(item.hash),
      store.read(item.policyId, item.hash),
      store.write(itemOf(data), inPieces(data)),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      const cause = outcome.status === 'rejected' ? outcome.reason : undefined;
      t.ok(cause instanceof PrivateStoreError);
      t.match(cause, { kind: 'storage', answer: { code: 609, status: 500, message: 'DB error' } });
    }
    t.equal(log.of('privacy.storage-failed').length, calls.length);
    await store.stop();
  });

  const lines = [...log.of('privacy.storage-failed'), ...log.of('privacy.damaged')];
  t.notMatch(JSON.stringify(lines), SECRET, 'nothing confidential was logged');
}
