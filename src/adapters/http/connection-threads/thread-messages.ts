/**
 * What travels between the thread that owns the state and the threads that hold the connections of
 * clients. All that one turn of the event loop has gathered travels in one message.
 */
import type { HttpServerOptions, ThreadRefusal } from '../../../base/ports/http.ts';
import type { DelayHistograms } from '../../loop-delay.ts';
import type { Bounds } from '../bounds.ts';

/** What a thread knows of a route. */
export interface RouteFacts {
  readonly method: 'GET' | 'POST';
  readonly pattern: string;
  readonly maxBody: number;
  readonly mayWait: boolean;
  readonly keep: readonly string[];
  readonly keepsAddress: boolean | undefined;
  readonly access: string | undefined;
  readonly work: string | undefined;
  /** `Offload.unlessAccepts` */
  readonly unlessAccepts: string | undefined;
}

/** The data with which a thread is started. */
export interface HttpThreadData {
  readonly routes: readonly RouteFacts[];
  /** How many there are of these threads, and which of them this one is. */
  readonly threads: number;
  readonly index: number;
  readonly options: HttpServerOptions & Bounds;
  /** The bytes of bodies, which all threads count together. */
  readonly bodyBytes: SharedArrayBuffer;
  /** Counts threads that hold no connection any more (ended-threads.ts). */
  readonly ended: SharedArrayBuffer;
  /** `HttpServerOptions.forThreads`. */
  readonly program: unknown;
}

/** A request that the main thread answers. */
export interface Call {
  readonly id: number;
  /** `HttpRequest.id` */
  readonly requestId: string;
  /** Index of the route. */
  readonly route: number;
  readonly path: string;
  readonly query: string;
  readonly params: readonly string[];
  /** Values of the headers that the route keeps. */
  readonly headers: readonly string[];
  /** Of the client, where the route keeps it. */
  readonly address: string;
  readonly body: ArrayBuffer | undefined;
}

/** An answer of the main thread. */
export interface CallReply {
  readonly id: number;
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** `HttpStream.filler` where the answer goes on under this id. */
  readonly filler: string | undefined;
}

/** What follows in an answer that goes on. */
export type Written = { readonly id: number } & (
  | { readonly text: string | Uint8Array; readonly isLast: false }
  | { readonly text: string; readonly isLast: true }
);

export interface Answered {
  /** Index of the route. */
  readonly route: number;
  readonly status: number;
  readonly refusal?: ThreadRefusal | undefined;
}

export interface Batch {
  readonly kind: 'batch';
  readonly calls: readonly Call[];
  /** Requests that the thread has begun (prepared-batch.ts). */
  readonly prepared: ArrayBuffer | undefined;
  /** Answers that the thread gave by itself. */
  readonly answered: readonly Answered[];
  /** Answers that go on whose clients have taken the last text. */
  readonly taken: readonly number[];
  /** Those whose connections are gone. */
  readonly gone: readonly number[];
}

export type FromThread =
  /** Takes connections now. */
  | { readonly kind: 'open'; readonly descriptor: number }
  /** Where it is measured, before it opens: both threads read the same numbers. */
  | { readonly kind: 'measured'; readonly delays: DelayHistograms }
  /** The address or the certificate cannot be used; what was open before stays open. */
  | { readonly kind: 'unusable'; readonly why: unknown }
  /** An error that no code expected; the thread serves until it is closed. */
  | { readonly kind: 'failed'; readonly why: unknown }
  | Batch;

export type ToThread =
  | {
      readonly kind: 'answers';
      /** Whose own answer goes out. */
      readonly done: readonly number[];
      readonly replies: readonly CallReply[];
    }
  | { readonly kind: 'written'; readonly texts: readonly Written[] }
  | { readonly kind: 'reload' }
  /** `HttpServer.renew` */
  | { readonly kind: 'renew'; readonly data: unknown }
  /** Gives pending answers some time, then ends the thread. */
  | { readonly kind: 'close' }
  /** Ends all connections at once, because the process ends. */
  | { readonly kind: 'end' };
