/** Sends an answer that goes on: pieces of text as they come, to a client that may stop taking them. */
import type { HttpStream } from '../../base/http.ts';
import type { Response } from './app.ts';

/** Status and headers are written already, in the cork of this call. */
export function sendStream(
  response: Response,
  first: string | Uint8Array,
  stream: HttpStream,
): void {
  let isOpen = true;
  let isWaiting = false;
  const send = (text: string | Uint8Array): void => {
    response.cork(() => {
      isWaiting = !response.write(text as string);
    });
  };
  send(first);
  response.onAborted(() => {
    if (!isOpen) return;
    isOpen = false;
    stream.closed();
  });
  response.onWritable(() => {
    if (!isOpen || !isWaiting) return true;
    // The native server sends what waits only together with something new.
    send(stream.filler);
    if (!isWaiting) stream.ready();
    return true;
  });
  stream.begin({
    write(text) {
      if (!isOpen) return false;
      send(text);
      return !isWaiting;
    },
    end(text) {
      if (!isOpen) return;
      isOpen = false;
      response.cork(() => void response.end(text));
    },
  });
}
