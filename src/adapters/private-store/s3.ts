/**
 * Confidential data in a storage with the S3 protocol: objects `<hash>/<policy>`, both in Base58,
 * each a record of item and data (record.ts). An object is replaced as a whole or not at all, so
 * item and data cannot disagree.
 */
import { base58 } from '../../base/base58.ts';
import { concat } from '../../base/bytes.ts';
import { DamagedRecord, dataStart, itemIn, RECORD_PREFIX_BYTES, recordHead } from './record.ts';
import { bytesOf, S3Bucket, type S3Options, textOf } from './s3-bucket.ts';
import { policyIdOf, type Shelf } from './shelf.ts';
import { Uploads } from './uploads.ts';

/** A request with a body must state its length and hash first, so an upload is whole in memory. */
const UPLOADS_MAX = { client: 1, peer: 4 };
/** Most records have their item within these bytes, so that one request is enough. */
const FIRST_BYTES = 4096;
const PAGE_KEYS = 100;
const PAGE_BYTES_MAX = 1024 * 1024;

/** Rejects where the bucket cannot be reached with these keys. */
export async function s3Shelf(options: S3Options): Promise<Shelf> {
  const bucket = new S3Bucket(options);
  const uploads = new Uploads(UPLOADS_MAX);
  await bucket.requireExists().catch(async (cause: unknown) => {
    await bucket.close();
    throw cause;
  });

  return {
    async info(policyId, hash) {
      const path = pathOf(policyId, hash);
      const first = await firstBytes(bucket, path, FIRST_BYTES);
      if (first === undefined) return undefined;
      const start = dataStart(first);
      const head = start <= first.length ? first : await firstBytes(bucket, path, start);
      return head && itemIn(head.subarray(0, start));
    },

    async policiesOf(hash) {
      const prefix = `${base58.encode(hash)}/`;
      const found: Uint8Array[] = [];
      for await (const key of keysUnder(bucket, prefix)) {
        const policyId = policyIdOf(key.slice(prefix.length));
        if (policyId !== undefined) found.push(policyId);
      }
      return found;
    },

    async open(policyId, hash) {
      const path = pathOf(policyId, hash);
      const answer = await bucket.ask({ method: 'HEAD', path });
      await answer?.body.dump();
      return answer && (() => dataOf(bucket, path));
    },

    put: (item, pieces, source) =>
      uploads.run(async () => {
        const body = [recordHead(item)];
        for await (const piece of pieces) body.push(piece);
        const path = pathOf(item.policyId, item.hash);
        const answer = await bucket.ask({ method: 'PUT', path, body });
        if (answer === undefined) throw new Error('the store answers 404');
        await answer.body.dump();
      }, source),

    stop: () => bucket.close(),
  };
}

const pathOf = (policyId: Uint8Array, hash: Uint8Array): string =>
  `/${base58.encode(hash)}/${base58.encode(policyId)}`;

async function firstBytes(
  bucket: S3Bucket,
  path: string,
  length: number,
): Promise<Uint8Array | undefined> {
  const answer = await bucket.ask({ method: 'GET', path, range: `bytes=0-${length - 1}` });
  if (answer === undefined) return undefined;
  const bytes = await bytesOf(answer, length);
  return bytes.subarray(0, length);
}

/** The keys that begin with the prefix, read in pages. */
async function* keysUnder(bucket: S3Bucket, prefix: string): AsyncIterable<string> {
  let last = '';
  for (let more = true; more; ) {
    // The first version of the list request continues after a plain key, and every storage
    // supports it.
    const query = new URLSearchParams({ prefix, marker: last, 'max-keys': String(PAGE_KEYS) });
    const answer = await bucket.ask({ method: 'GET', path: `?${query}` });
    const text = answer === undefined ? '' : await textOf(answer, PAGE_BYTES_MAX);
    // Keys consist of Base58 and a slash, so they never contain escapes.
    const keys = [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map((match) => match[1]!);
    yield* keys;
    last = keys.at(-1) ?? '';
    more = keys.length > 0 && text.includes('<IsTruncated>true<');
  }
}

async function* dataOf(bucket: S3Bucket, path: string): AsyncIterable<Uint8Array> {
  const answer = await bucket.ask({ method: 'GET', path });
  if (answer !== undefined) yield* withoutHead(answer.body);
}

async function* withoutHead(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let head: Uint8Array = new Uint8Array();
  let start = RECORD_PREFIX_BYTES;
  let isData = false;
  for await (const piece of body) {
    if (isData) {
      yield piece;
      continue;
    }
    head = concat(head, piece);
    if (head.length >= RECORD_PREFIX_BYTES) start = dataStart(head);
    isData = head.length >= RECORD_PREFIX_BYTES && head.length >= start;
    if (isData) yield head.subarray(start);
  }
  if (!isData) throw new DamagedRecord('the object is cut off');
}
