/**
 * Confidential data in a storage with the S3 protocol: objects `<hash>/<policy>`, both in Base58,
 * each a record of item and data (record.ts). An object is replaced as a whole or not at all, so
 * item and data cannot disagree.
 *
 * Requests name the bucket in the path, which every such storage understands. Version 4 of the
 * signature covers them, body included.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher } from 'undici';
import { base58 } from '../../base/base58.ts';
import { concat } from '../../base/bytes.ts';
import { atMost } from '../../base/slots.ts';
import { DamagedRecord, dataStart, itemIn, RECORD_PREFIX_BYTES, recordHead } from './record.ts';
import type { Shelf } from './shelf.ts';

export interface S3Options {
  /** The URL of the service, without the bucket. */
  readonly url: string;
  readonly bucket: string;
  /** Most storages except the original accept any region; default us-east-1. */
  readonly region?: string | undefined;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A request with a body must state its length and hash first, so an upload is whole in memory. */
const UPLOADS_MAX = 4;
/** Most records have their item within these bytes, so that one request is enough. */
const FIRST_BYTES = 4096;
const CONNECTIONS = 16;
const CONNECT_MS = 10_000;
const HEADERS_MS = 30_000;
const BODY_MS = 60_000;
/** Bytes of a refusal, which is XML with an error code. */
const REFUSAL_BYTES_MAX = 64 * 1024;
const PAGE_KEYS = 100;
const PAGE_BYTES_MAX = 1024 * 1024;

interface Call {
  readonly method: 'GET' | 'HEAD' | 'PUT';
  /** The path below the bucket. */
  readonly path: string;
  readonly range?: string;
  readonly body?: readonly Uint8Array[];
}

/** Rejects where the bucket cannot be reached with these keys. */
export async function s3Shelf(options: S3Options): Promise<Shelf> {
  const { accessKeyId, secretAccessKey, region = 'us-east-1' } = options;
  const bucket = `${options.url.replace(/\/+$/, '')}/${options.bucket}`;
  const agent = new Agent({
    connections: CONNECTIONS,
    headersTimeout: HEADERS_MS,
    bodyTimeout: BODY_MS,
    connect: { timeout: CONNECT_MS },
  });
  const upload = atMost(UPLOADS_MAX);

  /** The answer; undefined where the object does not exist. Rejects on any other refusal. */
  async function ask(call: Call): Promise<Dispatcher.ResponseData | undefined> {
    const { method, path, range, body = [] } = call;
    const digest = createHash('sha256');
    for (const piece of body) digest.update(piece);
    const signed = await new AwsV4Signer({
      method,
      url: `${bucket}${path}`,
      headers: { 'X-Amz-Content-Sha256': digest.digest('hex') },
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
    }).sign();
    const length = body.reduce((sum, piece) => sum + piece.length, 0);
    const answer = await agent.request({
      origin: signed.url.origin,
      path: signed.url.pathname + signed.url.search,
      method,
      headers: {
        ...Object.fromEntries(signed.headers),
        ...(range === undefined ? {} : { range }),
        ...(method === 'PUT' ? { 'content-length': String(length) } : {}),
      },
      body: method === 'PUT' ? Readable.from(body) : null,
    });
    if (answer.statusCode < 300) return answer;
    const text = await textOf(answer, REFUSAL_BYTES_MAX);
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1];
    if (answer.statusCode === 404 && code !== 'NoSuchBucket') return undefined;
    throw new Error(`the store answers ${answer.statusCode} ${code ?? ''}`.trim());
  }

  const pathOf = (policyId: Uint8Array, hash: Uint8Array): string =>
    `/${base58.encode(hash)}/${base58.encode(policyId)}`;

  async function firstBytes(path: string, length: number): Promise<Uint8Array | undefined> {
    const answer = await ask({ method: 'GET', path, range: `bytes=0-${length - 1}` });
    if (answer === undefined) return undefined;
    const bytes = await bytesOf(answer, length);
    return bytes.subarray(0, length);
  }

  async function* dataOf(path: string): AsyncIterable<Uint8Array> {
    const answer = await ask({ method: 'GET', path });
    if (answer !== undefined) yield* withoutHead(answer.body);
  }

  await ask({ method: 'HEAD', path: '' }).then(
    (answer) => {
      if (answer === undefined) throw new Error(`there is no bucket '${options.bucket}'`);
    },
    async (cause: unknown) => {
      await agent.close();
      throw cause;
    },
  );

  return {
    async info(policyId, hash) {
      const path = pathOf(policyId, hash);
      const first = await firstBytes(path, FIRST_BYTES);
      if (first === undefined) return undefined;
      const start = dataStart(first);
      const head = start <= first.length ? first : await firstBytes(path, start);
      return head && itemIn(head.subarray(0, start));
    },

    async policiesOf(hash) {
      const prefix = `${base58.encode(hash)}/`;
      const found: Uint8Array[] = [];
      let last = '';
      for (let more = true; more; ) {
        // The first version of the list request continues after a plain key, and every storage
        // supports it.
        const query = new URLSearchParams({ prefix, marker: last, 'max-keys': String(PAGE_KEYS) });
        const answer = await ask({ method: 'GET', path: `?${query}` });
        const text = answer === undefined ? '' : await textOf(answer, PAGE_BYTES_MAX);
        // Keys consist of Base58 and a slash, so they never contain escapes.
        const keys = [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map((match) => match[1]!);
        found.push(...keys.map((key) => base58.decode(key.slice(prefix.length))));
        last = keys.at(-1) ?? '';
        more = keys.length > 0 && text.includes('<IsTruncated>true<');
      }
      return found;
    },

    async open(policyId, hash) {
      const path = pathOf(policyId, hash);
      const answer = await ask({ method: 'HEAD', path });
      await answer?.body.dump();
      return answer && (() => dataOf(path));
    },

    put: (item, pieces) =>
      upload(async () => {
        const body = [recordHead(item)];
        for await (const piece of pieces) body.push(piece);
        const answer = await ask({ method: 'PUT', path: pathOf(item.policyId, item.hash), body });
        if (answer === undefined) throw new Error('the store answers 404');
        await answer.body.dump();
      }),

    stop: () => agent.close(),
  };
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

/** At most about `max` bytes; further bytes are not read. */
async function bytesOf({ body }: Dispatcher.ResponseData, max: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length >= max) break;
  }
  return concat(...pieces);
}

const textOf = async (answer: Dispatcher.ResponseData, max: number): Promise<string> =>
  Buffer.from(await bytesOf(answer, max)).toString();
