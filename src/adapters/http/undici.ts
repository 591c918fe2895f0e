/** The HttpClient port on undici: keep-alive connections, time limits, no redirects. */
import { Agent } from 'undici';
import type { HttpClient } from '../../base/http.ts';

const HEADERS_MS = 30_000;
const BODY_MS = 120_000;
const CONNECT_MS = 10_000;
const CONNECTIONS = 16;

export interface UndiciOptions {
  /** PEM certificates of the authorities to trust instead of those of the system. */
  readonly ca?: string | undefined;
}

export function undiciClient({ ca }: UndiciOptions = {}): HttpClient {
  const agent = new Agent({
    connections: CONNECTIONS,
    headersTimeout: HEADERS_MS,
    bodyTimeout: BODY_MS,
    connect: { timeout: CONNECT_MS, ...(ca === undefined ? {} : { ca }) },
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
        signal: signal ?? null,
      });
      const text = await response.body.text();
      return {
        status: response.statusCode,
        header: (name) => one(response.headers[name]),
        text,
      };
    },
    close: () => agent.close(),
  };
}

const one = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;
