/**
 * Confidential data in an S3-compatible storage: a server that checks signatures, on real sockets.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';
import { recordHead } from '../../src/adapters/private-store/record.ts';
import { s3Shelf } from '../../src/adapters/private-store/s3.ts';
import { verifiedStore } from '../../src/adapters/private-store/verified.ts';
import { base58 } from '../../src/base/base58.ts';
import type { PrivateItem } from '../../src/base/ports/private-store.ts';
import {
  contentOf,
  inPieces,
  itemOf,
  privateStoreCompliance,
} from '../compliance/private-store.ts';
import { memoryLog } from '../node/memory-ports.ts';

const BUCKET = 'confidential';
const folder = mkdtempSync(join(tmpdir(), 'private-s3-'));
const server = createServer();
const { port } = await server.run();
let running = true;
const stop = async (): Promise<void> => {
  if (running) await server.close();
  running = false;
};
t.teardown(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

// The keys that this server knows.
const options = {
  url: `http://127.0.0.1:${port}/`,
  bucket: BUCKET,
  accessKeyId: 'S3RVER',
  secretAccessKey: 'S3RVER',
};

/** The package has no types. */
function createServer(): S3Server {
  const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (
    options: object,
  ) => S3Server;
  return new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    configureBuckets: [{ name: BUCKET }],
  });
}

interface S3Server {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
  readonly store: {
    putObject(object: object): Promise<unknown>;
  };
}

t.test('settings that do not fit end the start', async (t) => {
  const refused = (changes: object) => s3Shelf({ ...options, ...changes });
  await t.rejects(refused({ bucket: 'nowhere' }), /no bucket 'nowhere'|404/);
  await t.rejects(refused({ secretAccessKey: 'wrong' }), /the store answers 403/);
  await t.rejects(refused({ accessKeyId: 'nobody' }), /the store answers 403/);
  await t.rejects(refused({ url: 'http://127.0.0.1:1' }), /ECONNREFUSED/);
});

t.test('an item that is longer than the first look', async (t) => {
  const store = verifiedStore(await s3Shelf(options), memoryLog());
  const data = new Uint8Array(10).fill(1);
  const item = { ...itemOf(data), comment: 'long '.repeat(6000) };
  await store.write(item, inPieces(data));
  t.strictSame(await store.info(item.policyId, item.hash), item);
  t.strictSame(await contentOf(store, item), data);
  await store.stop();
});

t.test('more policies than one page of a list has, and what others put there', async (t) => {
  const store = verifiedStore(await s3Shelf({ ...options, region: 'eu-west-1' }), memoryLog());
  const data = new Uint8Array(5).fill(2);
  const items = Array.from({ length: 105 }, () => itemOf(data));
  for (const item of items) await put(item, data);
  const { hash } = items[0]!;
  for (const foreign of ['', 'README.txt', '2'])
    await putAt(`${base58.encode(hash)}/${foreign}`, data);
  const found = (await store.policiesOf(items[0]!.hash)).map(base58.encode);
  t.strictSame(found.sort(), items.map(({ policyId }) => base58.encode(policyId)).sort());
  await store.stop();
});

/** Behind the back of the store. */
async function put(item: PrivateItem, data: Uint8Array): Promise<void> {
  const key = `${base58.encode(item.hash)}/${base58.encode(item.policyId)}`;
  await putAt(key, Buffer.concat([recordHead(item), data]));
}

async function putAt(key: string, content: Uint8Array): Promise<void> {
  const stream = Readable.from([content]);
  await server.store.putObject({ bucket: BUCKET, key, content: stream, metadata: {} });
}

t.test('S3', async (t) => {
  await privateStoreCompliance(t, {
    open: async (log) => verifiedStore(await s3Shelf(options), log),
    // The hash is of other data than these.
    damage: (item) => put(item, new Uint8Array(400_000)),
    fail: stop,
  });
});
