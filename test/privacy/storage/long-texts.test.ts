// Texts of an item take room like its data: name, author and comment may be longer than these.
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { filesShelf } from '../../../src/adapters/private-store/files-shelf.ts';
import { verifiedStore } from '../../../src/adapters/private-store/verified.ts';
import type { PrivateItem } from '../../../src/base/ports/private-store.ts';
import { TEXT_CHARS_MAX } from '../../../src/privacy/protocol/privacy-messages.ts';
import { Quota } from '../../../src/privacy/storage/quota.ts';
import { ITEM_BYTES_MIN } from '../../../src/privacy/storage/stored-bytes.ts';
import { scheme } from '../../chain/chain-harness.ts';
import { memoryLog } from '../../node/memory-ports.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';
import { temporaryFolder } from '../../system/e2e/dev-node.ts';

const MIB = 1024 * 1024;
/** Room for the longest data, which is reserved, and for this. */
const QUOTA = 24 * MIB;

const bytesOf = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

function opened(totalBytesMax: number) {
  const folder = temporaryFolder(t);
  const log = memoryLog();
  const store = verifiedStore(filesShelf(folder), log);
  const rows = createMemoryStore();
  const limits = { policyBytesMax: QUOTA, accountBytesMax: QUOTA, totalBytesMax };
  const options = { ...limits, freeBytesMin: 0, acceptedCreators: [] };
  const deps = { store, rows, log, scheme, ownerAddress: bytesOf(26, 9) };
  const creatorOf = () => bytesOf(26, 3);
  const quota = new Quota(options, { ...deps, creatorOf, onRefused: () => {} });
  const stored = (): number =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return { quota, store, stored };
}

/** An item of one byte or so. */
function itemOf(data: Uint8Array, text: string): PrivateItem {
  const hash = createHash('sha256').update(data).digest();
  const texts = { type: text, filename: text, size: text, author: text, comment: text };
  return { policyId: bytesOf(32, 1), hash, sender: bytesOf(26, 4), timestamp: 1n, ...texts };
}

async function* one(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

t.test('long texts do not get round a quota', async (t) => {
  const { quota, stored } = opened(QUOTA);
  // Each of these characters has six in a file.
  const text = '\u0001'.repeat(TEXT_CHARS_MAX);
  let refused = 0;
  for (let i = 0; i < 10; i++) {
    const data = Uint8Array.of(i);
    await quota.store.write(itemOf(data, text), one(data)).catch(({ message }: Error) => {
      t.match(message, /no room/);
      refused++;
    });
  }
  t.ok(refused > 0, 'some are refused');
  t.ok(stored() <= QUOTA - 20 * MIB, `${stored()} bytes are on the disk`);
  t.ok(quota.bytes() <= stored() && stored() - quota.bytes() <= 10 * ITEM_BYTES_MIN);
});

t.test('what a crash left uncounted counts with its texts, short ones do not count', async (t) => {
  const { quota, store } = opened(QUOTA);
  const [long, short] = [Uint8Array.of(1), new Uint8Array(10_000)];
  const item = itemOf(long, 'x'.repeat(TEXT_CHARS_MAX));
  await store.write(item, one(long));
  await quota.found(item);
  t.ok(quota.bytes() >= 5 * TEXT_CHARS_MAX - ITEM_BYTES_MIN);
  const before = quota.bytes();
  await quota.store.write(itemOf(short, 'a name'), one(short));
  t.equal(quota.bytes() - before, short.length);
});
