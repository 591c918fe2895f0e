/**
 * Asks registries for manifests (distribution protocol), so that the size of an image is known before
 * the engine fetches it. No redirect is followed, every answer has a limit of bytes and of time, and a
 * login goes only to the registry that it belongs to, or to where that registry sends for a token.
 */

import { isIP } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { withTimeout } from '../../../base/deadline.ts';
import { DEFAULT_REGISTRY, type ImageName } from '../../../base/image-name.ts';
import { ipRange, isInRanges } from '../../../base/ip-range.ts';
import { isObject } from '../../../base/json/json.ts';
import { contractLimits } from '../../../base/limits/contract-limits.ts';
import type { Clock } from '../../../base/ports/clock.ts';
import { readBody } from '../../http/read-body.ts';
import type { RegistryLogin } from '../engine.ts';
import type { InsecureRegistries } from '../engine-answers.ts';
import { MANIFEST_TYPES, type Manifest, readManifest } from './manifest.ts';

/** No usable answer; `isMissing`: the registry says that there is no such image. */
export class RegistryFailed extends Error {
  override name = 'RegistryFailed';
  readonly isMissing: boolean;

  constructor(message: string, isMissing = false, options: ErrorOptions = {}) {
    super(message, options);
    this.isMissing = isMissing;
  }
}

export interface RegistryOptions {
  readonly login: RegistryLogin | undefined;
  /** Registries that the engine reaches without a certificate. */
  readonly insecure: InsecureRegistries;
  readonly clock: Pick<Clock, 'after'>;
  readonly signal: AbortSignal;
}

const TOKEN_BYTES_MAX = contractLimits.registryToken.value;
const TOKEN = /^[\x21-\x7e]+$/;
const CONNECT_MS = 5000;
const DEFAULT_HOST = 'registry-1.docker.io';
const LOOPBACK = ['127.0.0.0/8', '::1'];
const DIGEST = /^sha256:/;

interface Answer {
  readonly status: number;
  readonly challenge: string;
  readonly bytes: Uint8Array;
}

export class Registry {
  readonly #host: string;
  readonly #path: string;
  readonly #options: RegistryOptions;
  readonly #isInsecure: boolean;
  readonly #agent: Agent;
  readonly #basic: string | undefined;
  #origin: string | undefined;
  #authorization: string | undefined;

  constructor({ registry, path }: ImageName, options: RegistryOptions) {
    const { login } = options;
    this.#host = registry === DEFAULT_REGISTRY ? DEFAULT_HOST : registry;
    this.#path = path;
    this.#options = options;
    this.#isInsecure = mayBePlain(registry, options.insecure);
    this.#agent = new Agent({
      connections: 1,
      pipelining: 1,
      connect: { timeout: CONNECT_MS, rejectUnauthorized: !this.#isInsecure },
    });
    this.#basic =
      login?.username === undefined
        ? undefined
        : `Basic ${Buffer.from(`${login.username}:${login.password ?? ''}`).toString('base64')}`;
  }

  /** By tag or digest. Rejects with RegistryFailed, BadManifest or the reason of the signal. */
  async manifest(reference: string): Promise<Manifest> {
    let answer = await this.#askManifest(reference);
    if (answer.status === 401) {
      this.#authorization = await this.#authorizationFor(answer.challenge);
      answer = await this.#askManifest(reference);
    }
    const { status, bytes } = answer;
    if (status !== 200) throw new RegistryFailed(`status ${status}`, status === 404);
    return readManifest(bytes, DIGEST.test(reference) ? reference : undefined);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #ask(
    url: URL,
    headers: Readonly<Record<string, string>>,
    bytesMax: number,
  ): Promise<Answer> {
    const { clock, signal } = this.#options;
    const ask = async (limit: AbortSignal): Promise<Answer> => {
      const answer = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
        signal: limit,
        headers: { ...headers, 'accept-encoding': 'identity' },
      });
      const challenge = String(answer.headers['www-authenticate'] ?? '');
      const bytes = await bytesOf(answer, bytesMax);
      return { status: answer.statusCode, challenge, bytes };
    };
    const late = (): RegistryFailed => new RegistryFailed('no answer in time');
    try {
      return await withTimeout(clock, contractLimits.registryTime.value, signal, ask, late);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof RegistryFailed) throw cause;
      throw new RegistryFailed(reasonIn(cause), false, { cause });
    }
  }

  async #askManifest(reference: string): Promise<Answer> {
    const place = `/v2/${this.#path}/manifests/${reference}`;
    const authorization = this.#authorization;
    const headers = {
      accept: MANIFEST_TYPES.join(', '),
      ...(authorization === undefined ? {} : { authorization }),
    };
    const get = (from: string): Promise<Answer> =>
      this.#ask(new URL(place, from), headers, contractLimits.manifest.value);
    if (this.#origin !== undefined) return get(this.#origin);
    const secure = `https://${this.#host}`;
    try {
      const answer = await get(secure);
      this.#origin = secure;
      return answer;
    } catch (cause) {
      if (!this.#isInsecure) throw cause;
      this.#origin = `http://${this.#host}`;
      return get(this.#origin);
    }
  }

  /** What the registry wants to see, after it has refused. */
  async #authorizationFor(challenge: string): Promise<string> {
    const basic = this.#basic;
    if (/^basic\b/i.test(challenge) && basic !== undefined) return basic;
    const realm = fieldOf(challenge, 'realm');
    const isToken = /^bearer\b/i.test(challenge) && realm !== undefined && URL.canParse(realm);
    if (!isToken) throw new RegistryFailed('the login is refused');
    const url = new URL(realm);
    const isSecure = url.protocol === 'https:' || (this.#isInsecure && url.protocol === 'http:');
    if (!isSecure || url.username !== '') throw new RegistryFailed('a place of tokens without TLS');
    const service = fieldOf(challenge, 'service');
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', `repository:${this.#path}:pull`);
    const headers: Record<string, string> = basic === undefined ? {} : { authorization: basic };
    const { status, bytes } = await this.#ask(url, headers, TOKEN_BYTES_MAX);
    const token = status === 200 ? tokenIn(bytes) : undefined;
    if (token === undefined) throw new RegistryFailed('the login is refused');
    return `Bearer ${token}`;
  }
}

/** As the engine does, which takes registries of its own machine without TLS. */
function mayBePlain(registry: string, { domains, ranges }: InsecureRegistries): boolean {
  const host = new URL(`http://${registry}`).hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || domains.includes(registry)) return true;
  const known = [...LOOPBACK, ...ranges].flatMap((text) => ipRange(text) ?? []);
  return isIP(host) !== 0 && isInRanges(host, known);
}

const bytesOf = ({ body }: Dispatcher.ResponseData, max: number): Promise<Uint8Array> =>
  readBody(body, max, () => new RegistryFailed(`an answer of more than ${max} bytes`));

/** A field of a challenge: realm="https://…". */
const fieldOf = (challenge: string, name: string): string | undefined =>
  new RegExp(`[\\s,]${name}="([^"]{1,1000})"`, 'i').exec(challenge)?.[1];

function tokenIn(bytes: Uint8Array): string | undefined {
  try {
    const answer: unknown = JSON.parse(Buffer.from(bytes).toString());
    const token = isObject(answer) ? (answer['token'] ?? answer['access_token']) : undefined;
    return typeof token === 'string' && TOKEN.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}

const reasonIn = (cause: unknown): string => {
  const { code, message } = cause as NodeJS.ErrnoException;
  return code ?? message;
};
