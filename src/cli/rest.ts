/**
 * Calls of a running node for the commands. The typed client of src/api loads every route, half a
 * second that each call in a pipeline would pay; the four endpoints needed here are named by hand.
 */
import { undiciClient } from '../adapters/undici.ts';
import { RefusedError } from '../api/client.ts';
import { parse, stringify } from '../base/json.ts';
import { CliError } from './exit.ts';

export interface NodeFlags {
  url: string;
  apiKey?: string;
}

export interface RestNode {
  get(path: string): Promise<unknown>;
  post(path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

/** Rejects with RefusedError where the node refuses, and CliError where no node answers. */
export function restNode({ url, apiKey }: NodeFlags): RestNode {
  if (!URL.canParse(url)) throw new CliError(`'${url}' is no URL`);
  const base = url.replace(/\/+$/, '');
  const http = undiciClient();

  async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
    const answer = await http
      .request({
        method,
        url: base + path,
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
        },
        ...(body === undefined ? {} : { body: stringify(body) }),
      })
      .catch((cause: Error) => {
        throw new CliError(`No node answers at ${base}: ${cause.message || cause.name}`);
      });
    const value = tryParse(answer.text);
    if (answer.status >= 300) throw new RefusedError(answer.status, value);
    return value;
  }

  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    close: () => http.close(),
  };
}

function tryParse(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return text;
  }
}
