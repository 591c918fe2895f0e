/** The REST interface of a node that has a made chain: the calls that the crawler makes. */
import { httpListener } from '../../src/adapters/http/listener.ts';
import { parse, stringify } from '../../src/base/json/json.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../../src/base/ports/http.ts';
import type { Scope } from '../system/e2e/process.ts';
import type { MadeChain } from './made-chain.ts';

export interface MadeNode {
  readonly url: string;
  /** Requests so far. */
  requests(): number;
  close(): Promise<void>;
}

const RANGE_MAX = 100;

export interface MadeNodeOptions {
  readonly host?: string;
  /** 0: any free port. */
  readonly port?: number;
  readonly chainId?: string;
  /** Called before each answer, to change the chain in between. */
  readonly before?: (path: string) => void;
  /** What the node says of its final block. */
  readonly final?: () => { readonly finalHeight?: number };
  /** The answer waits for it. */
  readonly delay?: (path: string) => Promise<void>;
  /** Another answer than that of the chain; undefined: that one. `path` has its query, too. */
  readonly instead?: (path: string, body: string) => HttpReply | undefined;
}

export async function madeNode(
  scope: Scope,
  chain: () => MadeChain,
  {
    host = '127.0.0.1',
    port = 0,
    chainId = 'T',
    before,
    final,
    delay,
    instead,
  }: MadeNodeOptions = {},
): Promise<MadeNode> {
  let count = 0;
  /** The request can be read only while the server calls. */
  const answered = (asked: string, body: string, answer: () => unknown) => {
    count++;
    before?.(asked);
    const reply = (): HttpReply =>
      instead?.(asked, body) ??
      json(answer() ?? { status: 'error', details: 'No block for this height' });
    return delay === undefined ? reply() : delay(asked).then(reply);
  };
  const get = (pattern: string, answer: (of: HttpRequest) => () => unknown): HttpRoute => ({
    method: 'GET',
    pattern,
    maxBody: 0,
    keep: [],
    handle(request) {
      const { path, query } = request;
      return answered(query === '' ? path : `${path}?${query}`, '', answer(request));
    },
  });
  const post = (pattern: string, answer: (addresses: readonly string[]) => unknown): HttpRoute => ({
    method: 'POST',
    pattern,
    maxBody: 1 << 20,
    keep: [],
    handle({ path }, body) {
      const asked = new TextDecoder().decode(body);
      return answered(path, asked, () =>
        answer((parse(asked) as { addresses: string[] }).addresses),
      );
    },
  });
  const range = (from: number, last: number): unknown => {
    const to = Math.min(last, from + RANGE_MAX - 1);
    const heights = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
    const { printed } = chain();
    if (printed === undefined) return heights.flatMap((height) => chain().block(height) ?? []);
    return `[${heights.flatMap((height) => printed(height) ?? []).join(',')}]`;
  };
  const routes = [
    get('/blocks/height', () => () => ({ height: chain().height() })),
    get('/node/status', () => () => ({ blockchainHeight: chain().height(), ...final?.() })),
    get('/blocks/first', () => () => chain().block(1)),
    get('/blocks/headers/at/:height', (request) => {
      const height = Number(request.param(0));
      return () => {
        const { transactions: _, ...header } = chain().block(height) ?? {};
        return 'signature' in header ? header : undefined;
      };
    }),
    get('/blocks/seqext/:from/:to', (request) => {
      const [from, to] = [Number(request.param(0)), Number(request.param(1))];
      return () => range(from, to);
    }),
    get('/blocks/at/:height', (request) => {
      const height = Number(request.param(0));
      const query = new URLSearchParams(request.query);
      const offset = Number(query.get('offset') ?? 0);
      const limit = Number(query.get('limit') ?? Number.POSITIVE_INFINITY);
      return () => {
        const block = chain().block(height);
        const all = (block?.['transactions'] ?? []) as unknown[];
        return block && { ...block, transactions: all.slice(offset, offset + limit) };
      };
    }),
    get('/assets/balance/:address', (request) => {
      const address = request.param(0);
      const query = new URLSearchParams(request.query);
      const [after, limit] = [query.get('after') ?? '', Number(query.get('limit') ?? Infinity)];
      return () => {
        const held = (chain().assets?.(address) ?? []).filter(({ assetId }) => assetId > after);
        return { address, balances: held.slice(0, limit) };
      };
    }),
    get('/consensus/settings', () => () => undefined),
    get('/node/config', () => () => ({ chainId, version: '1.1.0' })),
    post('/addresses/balance/details', (addresses) =>
      addresses.map((address) => ({ address, regular: chain().balance(address) })),
    ),
    post('/assets/balance', (addresses) =>
      Object.fromEntries(addresses.map((address) => [address, chain().assets?.(address) ?? []])),
    ),
  ];
  const server = await httpListener.listen(routes, { host, port, cors: false });
  let open = true;
  const close = async (): Promise<void> => {
    if (open) await server.close();
    open = false;
  };
  scope.teardown(close);
  return { url: `http://127.0.0.1:${server.port}`, requests: () => count, close };
}

export const json = (value: unknown): HttpReply => ({
  status: 200,
  type: 'application/json',
  body: typeof value === 'string' ? value : stringify(value),
});
