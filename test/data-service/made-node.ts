/** The REST interface of a node that has a made chain: the calls that the crawler makes. */
import { hyperExpress } from '../../src/adapters/http/hyper-express.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../../src/base/http.ts';
import { parse, stringify } from '../../src/base/json.ts';
import type { Scope } from '../e2e/process.ts';
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
  /** Another answer than that of the chain; undefined: that one. */
  readonly instead?: (path: string, body: string) => HttpReply | Promise<HttpReply> | undefined;
}

export async function madeNode(
  scope: Scope,
  chain: () => MadeChain,
  { host = '127.0.0.1', port = 0, chainId = 'T', before, instead }: MadeNodeOptions = {},
): Promise<MadeNode> {
  let count = 0;
  const get = (pattern: string, answer: (request: HttpRequest) => unknown): HttpRoute => ({
    method: 'GET',
    pattern,
    maxBody: 0,
    keep: [],
    handle(request) {
      count++;
      before?.(request.path);
      const other = instead?.(request.path, '');
      if (other !== undefined) return other;
      return json(answer(request) ?? { status: 'error', details: 'No block for this height' });
    },
  });
  const post = (pattern: string, answer: (addresses: readonly string[]) => unknown): HttpRoute => ({
    method: 'POST',
    pattern,
    maxBody: 1 << 20,
    keep: [],
    handle({ path }, body) {
      count++;
      const asked = new TextDecoder().decode(body);
      const other = instead?.(path, asked);
      if (other !== undefined) return other;
      const { addresses } = parse(asked) as { addresses: string[] };
      return json(answer(addresses));
    },
  });
  const range = (request: HttpRequest): unknown => {
    const from = Number(request.param(0));
    const to = Math.min(Number(request.param(1)), from + RANGE_MAX - 1);
    const heights = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
    const { printed } = chain();
    if (printed === undefined) return heights.flatMap((height) => chain().block(height) ?? []);
    return `[${heights.flatMap((height) => printed(height) ?? []).join(',')}]`;
  };
  const routes = [
    get('/blocks/height', () => ({ height: chain().height() })),
    get('/blocks/first', () => chain().block(1)),
    get('/blocks/headers/at/:height', (request) => {
      const { transactions: _, ...header } = chain().block(Number(request.param(0))) ?? {};
      return 'signature' in header ? header : undefined;
    }),
    get('/blocks/seqext/:from/:to', range),
    get('/node/config', () => ({ chainId, version: '1.1.0' })),
    post('/addresses/balance/details', (addresses) =>
      addresses.map((address) => ({ address, regular: chain().balance(address) })),
    ),
    post('/assets/balance', (addresses) =>
      Object.fromEntries(addresses.map((address) => [address, chain().assets?.(address) ?? []])),
    ),
  ];
  const server = await hyperExpress.listen(routes, { host, port, cors: false });
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
