/**
 * The Engine API as tests use it, apart from the client of the node that they judge: to build images
 * and to see what is really there.
 */
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';

const TIMEOUT_MS = 60_000;

export interface EngineAnswer {
  readonly status: number;
  readonly body: IncomingMessage;
}

export interface EngineCall {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** JSON, or a body in pieces with its own type. */
  readonly body?: unknown;
  readonly pieces?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly type?: string;
}

/** The caller reads the body of the answer. */
export async function engineCall(
  socketPath: string,
  path: string,
  { method = 'GET', body, pieces, type = 'application/json' }: EngineCall = {},
): Promise<EngineAnswer> {
  const call = request({ socketPath, path, method, timeout: TIMEOUT_MS });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    call.once('response', resolve).once('error', reject);
    call.once('timeout', () => call.destroy(new Error(`no answer to ${method} ${path}`)));
  });
  answer.catch(() => {});
  const isSent = pieces !== undefined || body !== undefined;
  if (isSent) call.setHeader('content-type', type);
  if (pieces !== undefined) {
    for await (const piece of pieces) {
      if (!call.write(piece)) await new Promise((resolve) => call.once('drain', resolve));
    }
  }
  call.end(body === undefined ? undefined : JSON.stringify(body));
  const response = await answer;
  return { status: response.statusCode ?? 0, body: response };
}

/** The JSON of the answer; rejects where the engine refuses. */
export async function engineJson<T>(
  socketPath: string,
  path: string,
  call?: EngineCall,
): Promise<T> {
  const { status, body } = await engineCall(socketPath, path, call);
  if (status === 204) {
    body.resume();
    return undefined as T;
  }
  const answer = await json(body);
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
  return answer as T;
}

/** True where an engine answers at the socket. */
export async function answers(socketPath: string): Promise<boolean> {
  try {
    const { status, body } = await engineCall(socketPath, '/_ping');
    body.resume();
    return status === 200;
  } catch {
    return false;
  }
}

export interface ContainerRow {
  readonly Id: string;
  readonly Image: string;
  readonly ImageID: string;
  readonly State: string;
  readonly Labels: Readonly<Record<string, string>>;
}

/** All containers, the stopped ones too, that have the label; undefined: any or none. */
export const containersWith = (
  socketPath: string,
  label: string | undefined,
): Promise<ContainerRow[]> => {
  // An empty label would select none.
  const filters = encodeURIComponent(JSON.stringify(label === undefined ? {} : { label: [label] }));
  return engineJson(socketPath, `/containers/json?all=1&filters=${filters}`);
};
