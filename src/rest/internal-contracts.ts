/**
 * What a running contract reads over HTTP (contracts.md#reads-of-a-running-contract): routes of
 * contracts under another path, on a listener that serves nothing else.
 *
 * Invariant: each request carries the token of an execution that is under way, and is answered from
 * the state of that execution, within its budget of rows.
 */
import { base58 } from '../base/base58.ts';
import { ApiError, apiError } from '../base/errors.ts';
import type { HttpRequest, HttpRoute } from '../base/ports/http.ts';
import type { Executions, RunningExecution } from '../contracts/execution/executions.ts';
import { StreamedAnswer, streamed } from '../rest-framework/json-chunks.ts';
import type { AnyRoute, RouteRequest } from '../rest-framework/route.ts';
import { mountNode } from './api.ts';
import { isId } from './by-id.ts';
import { contracts } from './routes/contracts.ts';
import type { Services } from './services.ts';
import { confirmedJson } from './shapes.ts';

const PREFIX = '/internal';
const TOKEN = 'x-contract-api-token';

/** Throws ApiError where the request has no token that opens an execution. */
type Find = (request: HttpRequest) => RunningExecution;

export function createInternalApi(
  services: Services,
  executions: Pick<Executions, 'find' | 'admit'>,
): HttpRoute[] {
  const find: Find = (request) => executions.find(request.header(TOKEN));
  const guard = (request: HttpRequest): ApiError | undefined => {
    try {
      executions.admit(request.header(TOKEN));
      return undefined;
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  };
  const { view, tip, height } = services;
  // A long answer reads the state of its execution, and no copy of the chain.
  const snapshot = () => ({ view, tip, height, release: () => {} });
  return mountNode(internalRoutes(find), { ...services, snapshot }, guard);
}

/** The routes as they are declared. */
export function internalRoutes(find: Find): readonly AnyRoute<Services>[] {
  const read = [contracts.list, contracts.statesOfMany, contracts.state, contracts.entry];
  return [
    ...(read as readonly AnyRoute<Services>[]).map((route) => moved(route, find, answerOf(route))),
    moved(contracts.executedFor, find, ({ params: { id } }, execution, services) => {
      const executed = isId(id) ? execution.executedFor(id) : undefined;
      if (executed === undefined) throw apiError('ExecutedNotFound', base58.encode(id));
      return confirmedJson(executed, services);
    }),
  ];
}

type Request = RouteRequest<{ readonly id: Uint8Array }, unknown, unknown>;
type InExecution = (request: Request, execution: RunningExecution, services: Services) => unknown;

/** The same route on the other listener. */
const moved = (route: AnyRoute<Services>, find: Find, answer: InExecution): AnyRoute<Services> => ({
  ...route,
  path: PREFIX + route.path,
  access: 'contractToken',
  keep: [...(route.keep ?? []), TOKEN],
  handle: (request: Request, services) => answer(request, find(request.http), services),
});

/** What the route answers, from the state of an execution. */
function answerOf(route: AnyRoute<Services>): InExecution {
  const handle = route.handle as (request: Request, services: Services) => unknown;
  return (request, execution, services) => {
    const { view } = execution;
    const { tip, contractKeyFilters: keyFilters } = services;
    const height = (): number => execution.height;
    const client = base58.encode(execution.txId);
    const within: Services = {
      ...services,
      view,
      height,
      snapshot: () => ({ view, tip, height, release: () => {} }),
      keyFilters: {
        open: (pattern) => keyFilters.open(pattern, client),
        inTurn: (_client, work) => keyFilters.inTurn(client, work),
      },
    };
    const seen = (result: unknown): unknown =>
      result instanceof StreamedAnswer ? streamed(() => result.make(within)) : result;
    const result = handle(request, within);
    return result instanceof Promise ? result.then(seen) : seen(result);
  };
}
