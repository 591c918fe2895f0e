/** Work on an answer in a later turn of the event loop. */
import type uws from 'uWebSockets.js';

type Response = Parameters<Parameters<ReturnType<typeof uws.App>['get']>[1]>[0];

/** Does nothing where the connection is gone by then. */
export function unlessAborted(response: Response, work: () => void): () => void {
  let aborted = false;
  response.onAborted(() => {
    aborted = true;
  });
  return () => {
    if (!aborted) work();
  };
}
