/**
 * Signed requests to one bucket of a storage with the S3 protocol. They name the bucket in the path,
 * which every such storage understands. Version 4 of the signature covers them, body included.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher } from 'undici';
import { concat } from '../../base/bytes.ts';

export interface S3Options {
  /** The URL of the service, without the bucket. */
  readonly url: string;
  readonly bucket: string;
  /** Most storages except the original accept any region; default us-east-1. */
  readonly region?: string | undefined;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Call {
  readonly method: 'GET' | 'HEAD' | 'PUT';
  /** The path below the bucket. */
  readonly path: string;
  readonly range?: string;
  readonly body?: readonly Uint8Array[];
}

const CONNECTIONS = 16;
const CONNECT_MS = 10_000;
const HEADERS_MS = 30_000;
const BODY_MS = 60_000;
/** Bytes of a refusal, which is XML with an error code. */
const REFUSAL_BYTES_MAX = 64 * 1024;

export class S3Bucket {
  private readonly options: S3Options;
  private readonly agent = new Agent({
    connections: CONNECTIONS,
    headersTimeout: HEADERS_MS,
    bodyTimeout: BODY_MS,
    connect: { timeout: CONNECT_MS },
  });

  constructor(options: S3Options) {
    this.options = options;
  }

  /** The answer; undefined where the object does not exist. Rejects on any other refusal. */
  async ask(call: Call): Promise<Dispatcher.ResponseData | undefined> {
    const { method, range, body = [] } = call;
    const { url, headers } = await this.signed(call);
    const length = body.reduce((sum, piece) => sum + piece.length, 0);
    const answer = await this.agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: {
        ...Object.fromEntries(headers),
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

  /** Rejects where the bucket does not exist or its keys are wrong. */
  async requireExists(): Promise<void> {
    const answer = await this.ask({ method: 'HEAD', path: '' });
    if (answer === undefined) throw new Error(`there is no bucket '${this.options.bucket}'`);
  }

  close(): Promise<void> {
    return this.agent.close();
  }

  private signed({ method, path, body = [] }: Call) {
    const { url, bucket, accessKeyId, secretAccessKey, region = 'us-east-1' } = this.options;
    const digest = createHash('sha256');
    for (const piece of body) digest.update(piece);
    return new AwsV4Signer({
      method,
      url: `${url.replace(/\/+$/, '')}/${bucket}${path}`,
      headers: { 'X-Amz-Content-Sha256': digest.digest('hex') },
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
    }).sign();
  }
}

/** At most about `max` bytes; further bytes are not read. */
export async function bytesOf({ body }: Dispatcher.ResponseData, max: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length >= max) break;
  }
  return concat(...pieces);
}

export const textOf = async (answer: Dispatcher.ResponseData, max: number): Promise<string> =>
  Buffer.from(await bytesOf(answer, max)).toString();
