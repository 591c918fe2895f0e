/**
 * Calls of the Docker Engine API over its socket. Every call has a time limit and every answer a
 * length limit, because the engine may hang, restart or be another program altogether.
 */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { Pool } from 'undici';
import { withTimeout } from '../../base/deadline.ts';
import { isObject } from '../../base/json/json.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { readBody } from '../http/read-body.ts';

/** No complete answer arrived, or one that is no answer of an engine. */
export class EngineAway extends Error {
  override name = 'EngineAway';
}

/** The engine answered that it does not do what it was asked. */
export class EngineRefusal extends Error {
  override name = 'EngineRefusal';
  readonly status: number;
  /** The machine lacks addresses or space, whatever the image is. */
  readonly isShortage: boolean;

  constructor(status: number, message: string, isShortage: boolean) {
    super(message);
    this.status = status;
    this.isShortage = isShortage;
  }
}

/** A network was refused. Only the text tells why, and nothing in it comes from an author. */
export const networkRefusal = (cause: unknown): unknown =>
  cause instanceof EngineRefusal && /address pool/.test(cause.message)
    ? new EngineRefusal(cause.status, cause.message, true)
    : cause;

/** The error of the system ends the text, behind the paths, which an author may have chosen. */
const NO_SPACE = /: no space left on device(: unknown)?$/;

/** Podman refuses a main command that the image lacks as its own fault; these are its last words then. */
const NO_COMMAND = /: OCI runtime attempted to invoke a command that was not found$/;
const FAULT_OF_IMAGE = 400;

export interface EngineAddress {
  /** unix://PATH, tcp://HOST:PORT, http://HOST:PORT or https://HOST:PORT. */
  readonly host: string;
  /** Paths of PEM files; with them a TCP connection is encrypted. */
  readonly tls?:
    | { readonly ca?: string | undefined; readonly cert: string; readonly key: string }
    | undefined;
}

export interface EngineCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Without the version. */
  readonly path: string;
  /** True for the call by which the version is chosen. */
  readonly unversioned?: boolean;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, where there is no `body`; its type is in the headers. */
  readonly content?: AsyncIterable<Uint8Array>;
  /** For the whole answer of `ask`, and for the beginning of one of `open`. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface EngineClient {
  /**
   * The JSON of the answer, undefined for an empty one. Rejects with EngineRefusal or EngineAway, and
   * with the reason of the signal when it aborts.
   */
  ask(call: EngineCall): Promise<unknown>;
  /** The body of the answer as it arrives; it ends when the signal aborts. Rejects as `ask` does. */
  open(call: EngineCall): Promise<AsyncIterable<Uint8Array>>;
  /** Versions of the API begin their paths with this, once it is known. */
  useVersion(version: string): void;
  /** Ends all calls. */
  close(): Promise<void>;
}

const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
/** An answer that refuses is one line of JSON. */
const REFUSAL_BYTES_MAX = 64 * 1024;
const REFUSAL_CHARS_MAX = 500;
const CONNECT_MS = 5000;

/** Throws where the address cannot be meant. */
export function engineClient(address: EngineAddress, clock: Pick<Clock, 'after'>): EngineClient {
  const pool = poolOf(address);
  let prefix = '';

  /** Runs the call under its limits; `read` reads the body. */
  async function limited<T>(call: EngineCall, read: (answer: Answer) => Promise<T>): Promise<T> {
    const { method, query = {}, headers = {}, body, content, timeoutMs, signal } = call;
    const path = call.unversioned === true ? call.path : prefix + call.path;
    signal?.throwIfAborted();
    const search = new URLSearchParams(query).toString();
    const ask = async (limit: AbortSignal): Promise<T> => {
      const answer = await pool.request({
        method,
        path: `${path}${search === '' ? '' : `?${search}`}`,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': JSON_TYPE }) },
        body: body === undefined ? streamOf(content) : JSON.stringify(body),
        signal: limit,
      });
      if (answer.statusCode >= 400) throw await refusal(answer);
      return read(answer);
    };
    const late = (): EngineAway => new EngineAway(`no answer within ${timeoutMs} ms`);
    try {
      return await withTimeout(clock, timeoutMs, signal, ask, late);
    } catch (cause) {
      throw ownError(cause, signal);
    }
  }

  return {
    ask: (call) => limited(call, async ({ body }) => jsonOf(await bytesOf(body, ANSWER_BYTES_MAX))),
    open: (call) => limited(call, async ({ body }) => pieces(body, call.signal)),
    useVersion(version) {
      prefix = `/v${version}`;
    },
    close: () => pool.destroy(),
  };
}

const streamOf = (content: AsyncIterable<Uint8Array> | undefined): Readable | null =>
  content === undefined ? null : Readable.from(content, { objectMode: false });

const JSON_TYPE = 'application/json';

type Answer = Awaited<ReturnType<Pool['request']>>;

async function* pieces(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw ownError(cause, signal);
  }
}

function ownError(cause: unknown, signal: AbortSignal | undefined): unknown {
  if (cause instanceof EngineRefusal || cause instanceof EngineAway) return cause;
  if (signal?.aborted) return signal.reason;
  const { code, message } = cause as NodeJS.ErrnoException;
  return new EngineAway(code ?? message, { cause });
}

async function refusal({ statusCode, body }: Answer): Promise<EngineRefusal> {
  const bytes = await bytesOf(body, REFUSAL_BYTES_MAX);
  let reason = `status ${statusCode}`;
  try {
    const answer = jsonOf(bytes);
    if (isObject(answer) && typeof answer['message'] === 'string') reason = answer['message'];
  } catch {
    // The status says enough.
  }
  const isShortage = statusCode >= 500 && NO_SPACE.test(reason);
  const status = NO_COMMAND.test(reason) ? FAULT_OF_IMAGE : statusCode;
  return new EngineRefusal(status, reason.slice(0, REFUSAL_CHARS_MAX), isShortage);
}

const bytesOf = (body: AsyncIterable<Uint8Array>, max: number): Promise<Uint8Array> =>
  readBody(body, max, () => new EngineAway(`an answer of more than ${max} bytes`));

function jsonOf(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString();
  // Podman ends an empty answer with a line feed.
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EngineAway('an answer that is not JSON', { cause });
  }
}

function poolOf({ host, tls }: EngineAddress): Pool {
  // Limits are those of the calls: a container is waited for as long as it runs.
  const limits = { headersTimeout: 0, bodyTimeout: 0, connections: null };
  const connect = { timeout: CONNECT_MS };
  const [, scheme = '', rest = ''] = /^(unix|tcp|https?):\/\/(.+)$/.exec(host) ?? [];
  if (scheme === 'unix') {
    return new Pool('http://localhost', { ...limits, connect, socketPath: rest });
  }
  if (scheme === '') throw new Error('it is neither unix://PATH nor tcp://HOST:PORT');
  if (tls === undefined && scheme !== 'https') {
    // Everyone who reaches a plain port owns the machine of the engine.
    const { hostname } = new URL(`http://${rest}`);
    const isLocal = hostname === 'localhost' || (isIP(hostname) === 4 && /^127\./.test(hostname));
    if (!isLocal && hostname !== '[::1]') {
      throw new Error('an engine on another machine needs docker-engine.tls');
    }
    return new Pool(`http://${rest}`, { ...limits, connect });
  }
  const pem = (path: string | undefined) => path && readFileSync(path, 'utf8');
  const files = tls && { ca: pem(tls.ca), cert: pem(tls.cert), key: pem(tls.key) };
  const given = Object.entries(files ?? {}).filter(([, text]) => text !== undefined);
  return new Pool(`https://${rest}`, {
    ...limits,
    connect: { ...connect, ...Object.fromEntries(given) },
  });
}
