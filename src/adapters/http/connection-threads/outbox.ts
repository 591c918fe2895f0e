/**
 * What a thread passes on to the main thread, and the requests that wait for its answers.
 *
 * A message wakes the main thread, which costs as much as some requests. So all that one turn of
 * the event loop has gathered travels together. Prepared requests also wait while earlier ones are
 * unanswered, because their answers wait for the disk anyway and come together.
 */
import type { MessagePort } from 'node:worker_threads';
import type { HttpReply, HttpStream, HttpStreamClient } from '../../../base/ports/http.ts';
import { Batcher } from '../../../concurrency/batcher.ts';
import { type PreparedRequest, writePrepared } from './prepared-batch.ts';
import type { Answered, Batch, Call, CallReply, Written } from './thread-messages.ts';

/** Prepared requests that travelled together. */
interface Group {
  unanswered: number;
}

interface Waiting {
  readonly prepared: HttpReply | undefined;
  readonly resolve: (reply: HttpReply) => void;
  group: Group | undefined;
}

/** So many prepared requests are worth a message of their own. */
const GROUP_MIN = 16;
/** Groups on their way, below which a smaller one follows. */
const GROUPS_MAX = 1;
/** Printing and sending so many takes less than a millisecond. */
const ANSWERS_PER_TURN = 32;

export class Outbox {
  private readonly port: MessagePort;
  private readonly waiting = new Map<number, Waiting>();
  private calls: Call[] = [];
  private prepared: PreparedRequest[] = [];
  private answered: Answered[] = [];
  private answers: { readonly id: number; readonly reply: CallReply | undefined }[] = [];
  /** Clients of answers that go on. */
  private readonly streams = new Map<number, HttpStreamClient>();
  /** Texts that came before the answer to which they belong has begun. */
  private early = new Map<number, Written[]>();
  private taken: number[] = [];
  private gone: number[] = [];
  private lastId = 0;
  private groups = 0;
  private readonly turn = new Batcher(() => this.send());

  constructor(port: MessagePort) {
    this.port = port;
  }

  /** Passes on a request that the main thread answers. */
  call(call: Omit<Call, 'id'>): Promise<HttpReply> {
    const [id, answer] = this.wait(undefined);
    this.calls.push({ ...call, id });
    return answer;
  }

  /** Passes on the rest of a request. */
  finish(
    route: number,
    requestId: string,
    { message, reply }: { readonly message: Uint8Array; readonly reply: HttpReply },
  ): Promise<HttpReply> {
    const [id, answer] = this.wait(reply);
    this.prepared.push({ id, route, requestId, message });
    return answer;
  }

  /** Reports an answer that the main thread does not see. */
  count(answered: Answered): void {
    this.answered.push(answered);
    this.turn.ask();
  }

  /** Sends the prepared answers to `done`, and the others. */
  settle(done: readonly number[], replies: readonly CallReply[]): void {
    const isIdle = this.answers.length === 0;
    for (const id of done) this.answers.push({ id, reply: undefined });
    for (const reply of replies) this.answers.push({ id: reply.id, reply });
    if (isIdle) this.answer();
  }

  /** Some of them; new requests come between. */
  private answer(): void {
    for (const { id, reply } of this.answers.splice(0, ANSWERS_PER_TURN)) this.settleOne(id, reply);
    if (this.answers.length > 0) setImmediate(() => this.answer());
  }

  private settleOne(id: number, reply: CallReply | undefined): void {
    const of = this.waiting.get(id);
    if (of === undefined) return;
    this.waiting.delete(id);
    if (of.group !== undefined && --of.group.unanswered === 0) {
      this.groups -= 1;
      if (this.prepared.length > 0) this.turn.ask();
    }
    const filler = reply?.filler;
    if (reply !== undefined && filler !== undefined) {
      of.resolve({ ...reply, stream: this.streamOf(id, filler) });
      return;
    }
    const answer = reply ?? of.prepared;
    if (answer !== undefined) of.resolve(answer);
  }

  /** Texts of the main thread for answers that go on. */
  write(texts: readonly Written[]): void {
    for (const text of texts) {
      const client = this.streams.get(text.id);
      if (client !== undefined) this.writeTo(client, text);
      else if (this.waiting.has(text.id)) {
        this.early.set(text.id, [...(this.early.get(text.id) ?? []), text]);
      }
    }
  }

  private writeTo(client: HttpStreamClient, written: Written): void {
    const { id } = written;
    if (written.isLast) {
      this.streams.delete(id);
      client.end(written.text);
    } else if (client.write(written.text)) this.took(id);
  }

  private streamOf(id: number, filler: string): HttpStream {
    return {
      filler,
      begin: (client) => {
        this.streams.set(id, client);
        const early = this.early.get(id) ?? [];
        this.early.delete(id);
        for (const text of early) this.writeTo(client, text);
      },
      ready: () => this.took(id),
      closed: () => {
        this.streams.delete(id);
        this.early.delete(id);
        this.gone.push(id);
        this.turn.ask();
      },
    };
  }

  private took(id: number): void {
    this.taken.push(id);
    this.turn.ask();
  }

  private wait(prepared: HttpReply | undefined): readonly [number, Promise<HttpReply>] {
    this.lastId = (this.lastId + 1) >>> 0;
    const id = this.lastId;
    const answer = new Promise<HttpReply>((resolve) => {
      this.waiting.set(id, { prepared, resolve, group: undefined });
    });
    this.turn.ask();
    return [id, answer];
  }

  private send(): void {
    const isDue = this.prepared.length >= GROUP_MIN || this.groups < GROUPS_MAX;
    const prepared = isDue ? this.prepared : [];
    const { calls, answered, taken, gone } = this;
    const count = calls.length + prepared.length + answered.length + taken.length + gone.length;
    if (count === 0) return;
    const batch: Batch = {
      kind: 'batch',
      calls,
      prepared: prepared.length === 0 ? undefined : this.group(prepared),
      answered,
      taken,
      gone,
    };
    const moved = calls.flatMap(({ body }) => body ?? []);
    if (batch.prepared !== undefined) moved.push(batch.prepared);
    this.calls = [];
    this.answered = [];
    this.taken = [];
    this.gone = [];
    this.port.postMessage(batch, moved);
  }

  private group(prepared: readonly PreparedRequest[]): ArrayBuffer {
    const group: Group = { unanswered: prepared.length };
    for (const { id } of prepared) this.waiting.get(id)!.group = group;
    this.groups += 1;
    this.prepared = [];
    return writePrepared(prepared);
  }
}
