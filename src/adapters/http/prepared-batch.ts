/**
 * Requests that a thread has begun, in one buffer that is transferred: the main thread reads them
 * without making an object for each.
 *
 * count (u32) ‖ per request: number, route, length (u32 each), message. All little-endian.
 */
const WORD = 4;
const HEAD = 3 * WORD;

export interface PreparedRequest {
  readonly id: number;
  /** Index of the route. */
  readonly route: number;
  readonly message: Uint8Array;
}

export function writePrepared(items: readonly PreparedRequest[]): ArrayBuffer {
  let size = WORD;
  for (const { message } of items) size += HEAD + message.length;
  const buffer = new ArrayBuffer(size);
  const bytes = new Uint8Array(buffer);
  const numbers = new DataView(buffer);
  numbers.setUint32(0, items.length, true);
  let at = WORD;
  for (const { id, route, message } of items) {
    numbers.setUint32(at, id, true);
    numbers.setUint32(at + WORD, route, true);
    numbers.setUint32(at + 2 * WORD, message.length, true);
    bytes.set(message, at + HEAD);
    at += HEAD + message.length;
  }
  return buffer;
}

/** The messages are views into the buffer. */
export function* readPrepared(buffer: ArrayBuffer): Generator<PreparedRequest, undefined> {
  const bytes = new Uint8Array(buffer);
  const numbers = new DataView(buffer);
  const count = numbers.getUint32(0, true);
  let at = WORD;
  for (let i = 0; i < count; i++) {
    const id = numbers.getUint32(at, true);
    const route = numbers.getUint32(at + WORD, true);
    const end = at + HEAD + numbers.getUint32(at + 2 * WORD, true);
    yield { id, route, message: bytes.subarray(at + HEAD, end) };
    at = end;
  }
}
