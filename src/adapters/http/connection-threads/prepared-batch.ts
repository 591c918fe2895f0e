/**
 * Requests that a thread has begun, in one buffer that is transferred: the main thread reads them
 * without making an object for each.
 *
 * count (u32) ‖ per request: number, route, length of the id, length (u32 each), id, message. All
 * little-endian; ids are Latin-1.
 */
const WORD = 4;
const HEAD = 4 * WORD;

export interface PreparedRequest {
  readonly id: number;
  /** Index of the route. */
  readonly route: number;
  /** `HttpRequest.id` */
  readonly requestId: string;
  readonly message: Uint8Array;
}

export function writePrepared(items: readonly PreparedRequest[]): ArrayBuffer {
  let size = WORD;
  for (const { requestId, message } of items) size += HEAD + requestId.length + message.length;
  const buffer = new ArrayBuffer(size);
  const bytes = Buffer.from(buffer);
  const numbers = new DataView(buffer);
  numbers.setUint32(0, items.length, true);
  let at = WORD;
  for (const { id, route, requestId, message } of items) {
    numbers.setUint32(at, id, true);
    numbers.setUint32(at + WORD, route, true);
    numbers.setUint32(at + 2 * WORD, requestId.length, true);
    numbers.setUint32(at + 3 * WORD, message.length, true);
    bytes.write(requestId, at + HEAD, 'latin1');
    at += HEAD + requestId.length;
    bytes.set(message, at);
    at += message.length;
  }
  return buffer;
}

/** The messages are views into the buffer. */
export function* readPrepared(buffer: ArrayBuffer): Generator<PreparedRequest, undefined> {
  const text = Buffer.from(buffer);
  const bytes = new Uint8Array(buffer);
  const numbers = new DataView(buffer);
  const count = numbers.getUint32(0, true);
  let at = WORD;
  for (let i = 0; i < count; i++) {
    const id = numbers.getUint32(at, true);
    const route = numbers.getUint32(at + WORD, true);
    const start = at + HEAD + numbers.getUint32(at + 2 * WORD, true);
    const end = start + numbers.getUint32(at + 3 * WORD, true);
    const requestId = text.toString('latin1', at + HEAD, start);
    yield { id, route, requestId, message: bytes.subarray(start, end) };
    at = end;
  }
}
