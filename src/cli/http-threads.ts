/** The REST interface beside threads, with this program's thread modules. */
import { aheadHttp } from '../adapters/http/ahead-http.ts';
import { hyperExpress } from '../adapters/http/hyper-express.ts';
import { threadedHttp } from '../adapters/http/threaded.ts';
import { BROADCAST } from '../api/broadcast-ahead.ts';
import type { Http } from '../base/http.ts';
import { CliError } from './exit.ts';

/** Works from sources and from the published build. */
const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
const module = (name: string): URL => new URL(`./${name}${extension}`, import.meta.url);

/**
 * `threads` hold the connections; 0: the calling thread does. `requestStop` is called where a thread
 * dies, because its requests are lost.
 */
export function createHttpThreads(threads: number, requestStop: (cause: Error) => void): Http {
  const onDeath = (cause: unknown): void =>
    requestStop(new CliError(`a thread of the REST interface died: ${String(cause)}`));
  return threads === 0
    ? aheadHttp({
        http: hyperExpress,
        workers: { [BROADCAST]: module('broadcast-worker') },
        onDeath,
      })
    : threadedHttp({ threads, workerUrl: module('http-worker'), onDeath });
}
