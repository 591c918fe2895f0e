/** Whole HTTP requests as bytes. */

/** Many requests in one buffer, so that they cross to the load's process in one piece. */
export interface RequestBatch {
  readonly bytes: Uint8Array;
  /** Where each request ends. */
  readonly ends: Uint32Array;
}

export const get = (path: string): Buffer =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 'latin1');

export function batch(requests: readonly Uint8Array[]): RequestBatch {
  const ends = new Uint32Array(requests.length);
  let length = 0;
  for (const [i, request] of requests.entries()) {
    length += request.length;
    ends[i] = length;
  }
  const bytes = new Uint8Array(length);
  for (const [i, request] of requests.entries()) bytes.set(request, ends[i]! - request.length);
  return { bytes, ends };
}

export function split({ bytes, ends }: RequestBatch): Uint8Array[] {
  const requests: Uint8Array[] = [];
  let start = 0;
  for (const end of ends) {
    requests.push(bytes.subarray(start, end));
    start = end;
  }
  return requests;
}
