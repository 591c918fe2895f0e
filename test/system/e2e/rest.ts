/** The REST interface of a running node, for the tests. */
import { Agent, request } from 'node:http';
import { isObject, type JsonObject, parse, stringify } from '../../../src/base/json/json.ts';
import { eventually } from './process.ts';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A REST interface, asked with the API key where one is given. */
export interface Rest {
  readonly url: string;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  height(): Promise<number>;
  /** Signs with a key of the node's keystore. */
  sign(tx: object): Promise<JsonObject>;
  /** Resolves with the accepted transaction; rejects with what the node says against it. */
  broadcast(tx: object): Promise<JsonObject>;
  /** The transaction once a block has it. */
  mined(id: unknown): Promise<JsonObject>;
}

export function restOf(url: string, apiKey?: string): Rest {
  const key = apiKey === undefined ? {} : { 'X-API-Key': apiKey };
  const call = async (path: string, asked: Asked): Promise<Answer> => {
    const { status, type, text } = await answerOf(url + path, asked);
    return { status, body: type.startsWith('application/json') ? parse(text) : text };
  };
  /** The node may end an idle connection just when it is used again: a client asks once more. */
  const get: Rest['get'] = (path) =>
    call(path, { headers: key }).catch((error: unknown) => {
      if (!isReset(error)) throw error;
      return call(path, { headers: key });
    });
  const post: Rest['post'] = (path, body, headers = {}) =>
    call(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...key, ...headers },
      ...(body === undefined ? {} : { body: stringify(body) }),
    });
  return {
    url,
    get,
    post,
    async height() {
      const { body } = await get('/blocks/height');
      return (body as { height: number }).height;
    },
    sign: async (tx) => accepted(await post('/transactions/sign', tx)),
    broadcast: async (tx) => accepted(await post('/transactions/broadcast', tx)),
    mined: (id) =>
      eventually(`transaction ${String(id)} in a block`, async () => {
        const answer = await get(`/transactions/info/${String(id)}`);
        return answer.status === 200 ? (answer.body as JsonObject) : undefined;
      }),
  };
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Answered {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** A connection without use for so long is not used again: the node may just end it. */
const IDLE_MS = 4000;
const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });

/** No process answers, or one that ends meanwhile. */
export class NoAnswerError extends Error {}

/** As `fetch`, which takes twice the processor time; a test may ask thousands of times. */
function answerOf(url: string, { method = 'GET', headers = {}, body }: Asked): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error): void =>
      reject(new NoAnswerError(`no answer: ${cause}`, { cause }));
    const asking = request(url, { method, headers, agent }, (answer) => {
      const { statusCode: status = 0, headers } = answer;
      let text = '';
      answer.setEncoding('utf8').on('data', (more: string) => {
        text += more;
      });
      answer.on('end', () => resolve({ status, type: headers['content-type'] ?? '', text }));
      answer.on('error', fail);
    });
    asking.on('error', fail);
    asking.end(body);
  });
}

const isReset = (error: unknown): boolean =>
  error instanceof NoAnswerError && (error.cause as NodeJS.ErrnoException).code === 'ECONNRESET';

function accepted({ status, body }: Answer): JsonObject {
  if (status !== 200 || !isObject(body)) throw new Error(`${status} ${stringify(body)}`);
  return body;
}
