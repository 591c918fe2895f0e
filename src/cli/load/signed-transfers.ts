/** Transfers that are signed before the measurement begins, as whole HTTP requests. */
import { stringify } from '../../base/json/json.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { TimeSlice } from '../../concurrency/time-slice.ts';
import { txToJson } from '../../tx/json/encode.ts';
import { nthTransfer, type Sender } from './transfers.ts';

export interface SignedTransfers {
  readonly count: number;
  /** The n-th request, for any of the nodes. */
  bytes(n: number): Uint8Array;
  /** Its transaction id as Base58. */
  id(n: number): string;
}

export interface TransfersOptions {
  readonly count: number;
  readonly senders: readonly Sender[];
  readonly fee: bigint;
  /** The value of the header Host. */
  readonly host: string;
  /** Called now and then with the number that is signed. */
  readonly onProgress: (count: number) => void;
  /** Tells when the event loop is to turn. */
  readonly slice: TimeSlice;
}

const PROGRESS_EVERY = 5_000;

/**
 * The senders take turns, and each pays the next one. The event loop turns meanwhile, as otherwise the
 * end of an idle connection would not be seen before the next request.
 */
export async function signTransfers(
  options: TransfersOptions,
  scheme: ChainScheme,
): Promise<SignedTransfers> {
  const { count, senders, fee, host, onProgress, slice } = options;
  const requests: Buffer[] = [];
  const ids: string[] = [];
  const timestamp = Date.now();
  for (let n = 0; n < count; n++) {
    const json = txToJson(nthTransfer(n, senders, { timestamp, fee }, scheme), scheme);
    requests.push(post('/transactions/broadcast', stringify(json), host));
    ids.push(String(json['id']));
    if ((n + 1) % PROGRESS_EVERY === 0) onProgress(n + 1);
    if (slice.isOver()) await slice.yield();
  }
  return { count, bytes: (n) => requests[n]!, id: (n) => ids[n]! };
}

/** A whole HTTP request as bytes. */
export const post = (path: string, body: string, host = 'localhost'): Buffer =>
  Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
