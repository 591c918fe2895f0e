/** The HttpClient port on undici: keep-alive connections, time limits, no redirects. */
import { Agent } from 'undici';
import { MIB } from '../../base/limits/budget.ts';
import { AnswerTooLong, type HttpClient } from '../../base/ports/http.ts';
import { readBody } from './read-body.ts';

const HEADERS_MS = 30_000;
const BODY_MS = 120_000;
const CONNECT_MS = 10_000;
const CONNECTIONS = 16;
/** Longer than every answer of a node. */
const ANSWER_BYTES_MAX = 32 * MIB;
/** From the request to the last byte of its answer. */
const ANSWER_MS_MAX = 120_000;

/** PEM texts. */
export interface ClientTls {
  /** Certificates of the authorities to trust instead of those of the system. */
  readonly ca?: string | undefined;
  /** For servers that ask clients for a certificate. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface UndiciOptions extends ClientTls {
  readonly answerBytesMax?: number;
  readonly answerMsMax?: number;
}

export function undiciClient({
  ca,
  cert,
  key,
  answerBytesMax = ANSWER_BYTES_MAX,
  answerMsMax = ANSWER_MS_MAX,
}: UndiciOptions = {}): HttpClient {
  const agent = new Agent({
    connections: CONNECTIONS,
    headersTimeout: HEADERS_MS,
    bodyTimeout: BODY_MS,
    connect: { timeout: CONNECT_MS, ...given({ ca, cert, key }) },
  });
  return {
    async request({ method, url, headers, body, signal }) {
      const { origin, pathname, search } = new URL(url);
      const response = await agent.request({
        origin,
        path: pathname + search,
        method,
        headers: { ...headers },
        body: body ?? null,
        signal: AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(answerMsMax)]),
      });
      // One that is too long ends the connection.
      const tooLong = (): AnswerTooLong => new AnswerTooLong(answerBytesMax);
      const text = (await readBody(response.body, answerBytesMax, tooLong)).toString();
      return {
        status: response.statusCode,
        header: (name) => one(response.headers[name]),
        text,
      };
    },
    // What is still under way ends, too: it may never be answered.
    close: () => agent.destroy(),
  };
}

const given = (parts: ClientTls): object =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));

const one = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;
