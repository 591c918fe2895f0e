/** Work on an answer in a later turn of the event loop. */
import type { Response } from './app.ts';

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
