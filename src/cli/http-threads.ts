/** The REST interface on several threads, with this program's thread module. */
import { threadedHttp } from '../adapters/http/threaded.ts';
import type { Http } from '../base/http.ts';
import { CliError } from './exit.ts';

/** Works from sources and from the published build. */
const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

/** `requestStop` is called where a thread dies, because its connections are lost. */
export function createHttpThreads(threads: number, requestStop: (cause: Error) => void): Http {
  return threadedHttp({
    threads,
    workerUrl: new URL(`./http-worker${extension}`, import.meta.url),
    onDeath: (cause) =>
      requestStop(new CliError(`a thread of the REST interface died: ${String(cause)}`)),
  });
}
