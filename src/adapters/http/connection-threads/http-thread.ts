/**
 * The main thread's end of one thread that holds connections (connection-thread.ts): runs the
 * routes for the requests that the thread passes on, and gathers the answers of a turn.
 */
import { Worker } from 'node:worker_threads';
import type { HttpReply, HttpRequest, HttpRoute } from '../../../base/ports/http.ts';
import type { LoopDelay } from '../../../base/ports/process-readings.ts';
import { Batcher } from '../../../concurrency/batcher.ts';
import { LoopDelayReader } from '../../loop-delay.ts';
import { threadFlags } from '../../threads/thread-flags.ts';
import { handled } from '../handled.ts';
import { FAILED } from '../reply.ts';
import { PassedStreams } from './passed-streams.ts';
import { type PreparedRequest, readPrepared } from './prepared-batch.ts';
import type { RequestQueue } from './request-queue.ts';
import type {
  Batch,
  Call,
  CallReply,
  FromThread,
  HttpThreadData,
  ToThread,
  Written,
} from './thread-messages.ts';

export interface HttpThreadEvents {
  /** Takes connections through this descriptor, instead of the one before. */
  readonly onOpen: (descriptor: number, before: number | undefined) => void;
  /** It ended without being asked to. */
  readonly onDeath: (cause: unknown) => void;
}

/** Much longer than the thread gives to pending answers. */
const CLOSE_MS = 10_000;
/** In MiB. Small, because nothing is refused while the garbage of a second is collected. */
const HEAP = { maxYoungGenerationSizeMb: 16 };
const NO_DELAY: LoopDelay = { p50: 0, p99: 0, max: 0 };

export class HttpThread {
  private readonly routes: readonly HttpRoute[];
  private readonly line: RequestQueue;
  private readonly events: HttpThreadEvents;
  private readonly workerUrl: URL;
  private readonly data: HttpThreadData;
  private worker: Worker | undefined;
  private readonly ended = Promise.withResolvers<void>();
  private descriptor: number | undefined;
  /** Settles the latest `open` or `reload`. */
  private opening = Promise.withResolvers<void>();
  private closing = false;
  private delays: LoopDelayReader | undefined;
  private cause: unknown;
  private done: number[] = [];
  private replies: CallReply[] = [];
  private texts: Written[] = [];
  private readonly turn = new Batcher(() => this.sendAnswers());
  private readonly streams = new PassedStreams((text) => {
    this.texts.push(text);
    this.turn.ask();
  });

  constructor(
    workerUrl: URL,
    data: HttpThreadData,
    routes: readonly HttpRoute[],
    line: RequestQueue,
    events: HttpThreadEvents,
  ) {
    this.workerUrl = workerUrl;
    this.data = data;
    this.routes = routes;
    this.line = line;
    this.events = events;
    this.opening.promise.catch(() => undefined);
  }

  /** Resolves when it takes connections; rejects where it cannot. */
  start(): Promise<void> {
    const worker = new Worker(this.workerUrl, {
      name: 'http',
      workerData: this.data,
      // The thread does not need the environment, which may hold passwords.
      env: {},
      execArgv: threadFlags(),
      resourceLimits: HEAP,
    });
    this.worker = worker;
    worker.on('message', (message: FromThread) => this.receive(message));
    worker.on('error', (error) => {
      this.cause = error;
    });
    worker.once('exit', (code) => {
      this.ended.resolve();
      this.streams.close();
      this.cause ??= new Error(`it ended with ${code}`);
      this.opening.reject(this.cause);
      if (!this.closing && this.descriptor !== undefined) this.events.onDeath(this.cause);
    });
    return this.opening.promise;
  }

  /** Delay of its timers, over the last minute at least; zero where it is not measured. */
  delay(): LoopDelay {
    return this.delays?.read() ?? NO_DELAY;
  }

  /** Resolves when new connections have the new certificate. */
  reload(): Promise<void> {
    this.opening = Promise.withResolvers<void>();
    this.post({ kind: 'reload' });
    return this.opening.promise;
  }

  /** Passes on `HttpServer.renew`. */
  renew(data: unknown): void {
    this.post({ kind: 'renew', data });
  }

  /** Gives pending answers some time, then ends the thread. */
  async close(): Promise<void> {
    this.closing = true;
    // No thread was made: nothing will end.
    if (this.worker === undefined) return;
    this.sendAnswers();
    this.post({ kind: 'close' });
    const late = setTimeout(() => void this.worker?.terminate(), CLOSE_MS);
    await this.ended.promise;
    clearTimeout(late);
  }

  /** Ends its connections at once. */
  end(): void {
    this.post({ kind: 'end' });
  }

  private post(message: ToThread, moved: readonly ArrayBuffer[] = []): void {
    this.worker?.postMessage(message, moved);
  }

  private receive(message: FromThread): void {
    switch (message.kind) {
      case 'open':
        this.events.onOpen(message.descriptor, this.descriptor);
        this.descriptor = message.descriptor;
        this.opening.resolve();
        return;
      case 'measured':
        this.delays = new LoopDelayReader(message.delays);
        return;
      case 'unusable':
        this.opening.reject(message.why);
        return;
      case 'failed':
        this.opening.reject(message.why);
        if (this.descriptor !== undefined && !this.closing) this.events.onDeath(message.why);
        return;
      case 'batch':
        this.run(message);
    }
  }

  private run({ prepared, calls, answered, taken, gone }: Batch): void {
    for (const { route, status, refusal } of answered) {
      this.routes[route]?.answered?.(status, refusal);
    }
    for (const id of taken) this.streams.taken(id);
    for (const id of gone) this.streams.gone(id);
    if (prepared !== undefined) {
      for (const request of readPrepared(prepared)) {
        this.line.add(() => this.finish(request), true);
      }
    }
    for (const call of calls) this.line.add(() => this.call(call), call.body !== undefined);
  }

  private finish({ id, route, requestId, message }: PreparedRequest): void {
    const finished = (reply: HttpReply | undefined): void => {
      if (reply !== undefined) this.answer(id, reply);
      else {
        this.done.push(id);
        this.turn.ask();
      }
    };
    void this.routes[route]!.offload!.finish(message, requestId).then(finished, () =>
      finished(FAILED),
    );
  }

  private call(call: Call): void {
    const route = this.routes[call.route]!;
    const request = new PassedRequest(route, call);
    const body = call.body && new Uint8Array(call.body);
    const reply = handled(route, request, body);
    const answer = (given: HttpReply): void => this.answer(call.id, given);
    if (!(reply instanceof Promise)) answer(reply);
    else void reply.then(answer, () => answer(FAILED));
  }

  private answer(id: number, reply: HttpReply): void {
    const { status, type, body, headers = [], sent, stream } = reply;
    // The message is a copy, so whoever lent the body has it back at once.
    const kept = typeof body === 'string' ? body : Uint8Array.from(body);
    this.replies.push({ id, status, type, body: kept, headers, filler: stream?.filler });
    sent?.();
    if (stream !== undefined) this.streams.begin(id, stream);
    this.turn.ask();
  }

  /** The answers of this turn. */
  private sendAnswers(): void {
    const { done, replies, texts } = this;
    this.done = [];
    this.replies = [];
    this.texts = [];
    const moved = replies.flatMap(({ body }) => (typeof body === 'string' ? [] : body.buffer));
    if (done.length + replies.length > 0)
      this.post({ kind: 'answers', done, replies }, moved as ArrayBuffer[]);
    if (texts.length > 0) this.post({ kind: 'written', texts });
  }
}

/** A request that a thread has read; the rules of access were applied there. */
class PassedRequest implements HttpRequest {
  readonly id: string;
  readonly method: string;
  private readonly keep: readonly string[];
  private readonly call: Call;

  constructor({ method, keep }: HttpRoute, call: Call) {
    this.id = call.requestId;
    this.method = method;
    this.keep = keep;
    this.call = call;
  }

  get path(): string {
    return this.call.path;
  }

  get query(): string {
    return this.call.query;
  }

  param(index: number): string {
    return this.call.params[index] ?? '';
  }

  header(name: string): string {
    return this.call.headers[this.keep.indexOf(name)] ?? '';
  }

  /** Only in `admit`, which ran in the thread. */
  headers(): string {
    return '';
  }

  /** Only in `admit`, which ran in the thread. */
  hasHeader(): boolean {
    return false;
  }

  /** Empty unless the route keeps it. */
  remoteAddress(): string {
    return this.call.address;
  }
}
