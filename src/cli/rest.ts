/** Calls of a running node for the commands: exact integers, errors as the node words them. */
import { Agent, request } from 'undici';
import { ApiError, type ErrorName } from '../base/errors.ts';
import { isObject, parse, stringify } from '../base/json.ts';
import { CliError } from './exit.ts';

export interface NodeFlags {
  url: string;
  apiKey?: string;
}

const PATIENCE_MS = 60_000;
const CONNECTIONS = 64;

/** An answer of a node that is no success. */
export class RestError extends ApiError {
  override name = 'RestError';
  readonly answer: Record<string, unknown>;

  constructor(status: number, answer: Record<string, unknown>) {
    super('Unknown' satisfies ErrorName, String(answer['message'] ?? `HTTP status ${status}`));
    this.answer = answer;
  }

  override get body(): Record<string, unknown> {
    return this.answer;
  }
}

export interface RestNode {
  get(path: string): Promise<unknown>;
  post(path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

/** Rejects with RestError for a refusal and CliError where no node answers. */
export function restNode({ url, apiKey }: NodeFlags): RestNode {
  if (!URL.canParse(url)) throw new CliError(`'${url}' is no URL`);
  const base = url.replace(/\/+$/, '');
  const dispatcher = new Agent({ connections: CONNECTIONS });

  async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
    const answer = await request(base + path, {
      method,
      dispatcher,
      headersTimeout: PATIENCE_MS,
      bodyTimeout: PATIENCE_MS,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
      },
      ...(body === undefined ? {} : { body: stringify(body) }),
    }).catch((cause: Error) => {
      throw new CliError(`No node answers at ${base}: ${cause.message || cause.name}`);
    });
    const text = await answer.body.text();
    const json = tryParse(text);
    if (answer.statusCode < 300) return json;
    throw new RestError(
      answer.statusCode,
      isObject(json) ? json : { error: answer.statusCode, message: text },
    );
  }

  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    close: () => dispatcher.close(),
  };
}

function tryParse(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return text;
  }
}
