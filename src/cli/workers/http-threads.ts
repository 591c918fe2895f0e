/** The REST interface beside threads, with this program's thread modules. */

import { threadedHttp } from '../../adapters/http/connection-threads/threaded.ts';
import { httpListener, nativeProblem } from '../../adapters/http/listener.ts';
import { offloadHttp } from '../../adapters/http/offload/offload-http.ts';
import { extension } from '../../adapters/threads/module-extension.ts';
import { giveWay } from '../../adapters/threads/priorities.ts';
import type { Http } from '../../base/ports/http.ts';
import { BROADCAST } from '../../rest/broadcast-offload.ts';
import { CliError } from '../terminal/exit.ts';

const module = (name: string): URL => new URL(`./${name}${extension}`, import.meta.url);

/**
 * `threads` hold the connections; 0: the calling thread does. `requestStop` is called where a thread
 * dies, because its requests are lost.
 */
export function createHttpThreads(threads: number, requestStop: (cause: Error) => void): Http {
  const onDeath = (cause: unknown): void =>
    requestStop(new CliError(`a thread of the REST interface died: ${String(cause)}`));
  const problem = threadsProblem(threads, nativeProblem);
  if (problem !== undefined) throw new CliError(problem);
  return threads === 0
    ? offloadHttp({
        http: httpListener,
        workers: { [BROADCAST]: module('broadcast-worker') },
        onDeath,
      })
    : givingWay(threadedHttp({ threads, workerUrl: module('http-worker'), onDeath }));
}

/**
 * Why the setting cannot be kept, where uWebSockets.js does not load for this reason; undefined
 * where it can.
 */
export function threadsProblem(threads: number, reason: string | undefined): string | undefined {
  if (threads === 0 || reason === undefined) return undefined;
  return (
    `rest-api.threads = ${threads} needs uWebSockets.js, which does not load here ` +
    `(${reason}); set rest-api.threads = 0, or run the node on Node 22`
  );
}

/** So that a thread of connections refuses at once what is too much while a block is made. */
function givingWay(http: Http): Http {
  return {
    async listen(routes, options) {
      const server = await http.listen(routes, options);
      giveWay('ordering');
      return server;
    },
  };
}
