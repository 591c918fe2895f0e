/**
 * What travels between a thread that holds connections and a thread that does the part of their
 * requests that needs no state (offload-threads.ts).
 */
import type { HttpReply, HttpRequest, Offload } from '../../../base/ports/http.ts';

/** Bodies one behind another. */
export interface BodyBatch {
  readonly buffer: ArrayBuffer;
  /** Where each of them ends. */
  readonly ends: readonly number[];
}

/** Said once, before all results. */
export const READY = 'ready';

/** Results: for each body of a batch, in their order. */
export type FromOffloadThread = typeof READY | readonly OffloadResult[];

export type OffloadResult =
  /** What the main thread gets, and the answer that goes out where it gives no other. */
  | { readonly message: Uint8Array; readonly reply: HttpReply }
  | { readonly refusal: HttpReply }
  /** The main thread does all. */
  | { readonly whole: Uint8Array };

/** True where no thread does a part of this request, which the route keeps the header `accept` for. */
export const isUndivided = (
  { unlessAccepts }: Pick<Offload, 'unlessAccepts'>,
  request: HttpRequest,
): boolean => unlessAccepts !== undefined && request.header('accept').includes(unlessAccepts);
