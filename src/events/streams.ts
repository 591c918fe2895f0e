/**
 * Streams of events to many clients. Readers that have all events take turns; one that catches up,
 * or whose turns take long, has them apart from the others, beside a few of its kind.
 *
 * Invariants: a reader writes only when its client has taken the text before; a client that does not
 * take it in time is ended; the streams in all, those of one client, and what waits for clients are
 * limited.
 */
import { apiError } from '../base/errors.ts';
import { eventLimits as limits } from '../base/limits/event-limits.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { HttpStream, HttpStreamClient } from '../base/ports/http.ts';
import { Alarm } from '../concurrency/alarm.ts';
import { Counts } from '../concurrency/counts.ts';
import { LazyAbort } from '../concurrency/lazy-abort.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import { type EndReason, endEvent, FILLER } from './event-text.ts';
import { LateTurns } from './late-turns.ts';

/**
 * `more`: another turn at once. `done`: nothing is to follow. `lost`: the place is not known.
 * `barred`: the client has no right to it any more.
 */
export type Advance = 'more' | 'waits' | 'done' | 'lost' | 'barred';

export interface StreamReader<Round> {
  /** Sends what comes next, as far as the round goes. */
  advance(round: Round, turn: LazyAbort): Promise<Advance>;
  /** Keeps the connection open; the client hears how far the stream is. */
  beat(): void;
}

/** The end of a stream that a reader writes to. */
export type Sink = (text: string | Uint8Array) => void;

export interface StreamsOptions {
  readonly readersMax: number;
  readonly readersOfClientMax: number;
}

export interface StreamSource<Round> {
  readonly clock: Clock;
  /** Where the source ends now; undefined while it is away. */
  begin(readers: number): Promise<Round | undefined>;
  /** The time until the source is asked again where nobody rings. */
  pollMs(): number;
  /** What a failed turn means for its reader; throws what no source may throw. */
  failed(cause: unknown, clientName: string): EndReason | 'apart';
  /** No reader is left. */
  idle?(): void;
  /** A stream has been ended here, and not by its client. */
  ended?(reason: EndReason): void;
}

export interface StreamRequest {
  /** Whose streams are counted together. */
  readonly client: string;
  readonly catchesUp: boolean;
}

/** A place among the streams, until `stream` begins or `release` is called. */
export interface OpenedPlace<Round> {
  stream(reader: ((send: Sink) => StreamReader<Round>) | EndReason): HttpStream;
  release(): void;
}

/** The native server ends connections on which nothing was written for ten seconds. */
export const BEAT_MS = 4000;
/** A client that has not taken a page by then is ended. */
const TAKE_MS_MAX = limits.take.value;
/** By then, while other readers must wait for what it has not taken. */
const TAKE_MS_CROWDED = limits.takeCrowded.value;
/** A turn that takes longer is ended, and taken apart from those of the others. */
const TURN_MS = limits.turn.value;
/** Turns apart at a time, one of a client: slow filters of one keep no other one waiting. */
const APART_MAX = limits.apart.value;
/**
 * Of all clients together: then readers wait. Beyond it come pages of the turns that have begun,
 * and beats.
 */
const WAITING_MAX = limits.waiting.value;

interface Member<Round> {
  /** Undefined until the beginning of the answer was sent. */
  reader: StreamReader<Round> | undefined;
  client: HttpStreamClient | undefined;
  /** False while the client must take something first. */
  isReady: boolean;
  /** What it must take: bytes, or the units of a text. */
  waiting: number;
  /** When something was written last, or the client was found to take nothing. */
  wroteAt: number;
  readonly clientName: string;
  /** Its turns are apart from those of the others. */
  isApart: boolean;
  /** Undefined between its turns. */
  turn: LazyAbort | undefined;
}

export class Streams<Round> {
  private readonly options: StreamsOptions;
  private readonly source: StreamSource<Round>;
  private readonly members = new Set<Member<Round>>();
  private readonly ofClients = new Counts<string>();
  private readonly alarm: Alarm;
  private readonly turns = new Set<Promise<void>>();
  /** Clients of which a reader has a turn apart now. */
  private readonly apart = new Set<string>();
  private isStopped = false;
  private running: Promise<void> | undefined;
  private cancelBeats: (() => void) | undefined;
  private readonly late: LateTurns;
  /** What clients have not taken. */
  private waiting = 0;

  constructor(options: StreamsOptions, source: StreamSource<Round>) {
    this.options = options;
    this.source = source;
    this.alarm = new Alarm(source.clock);
    this.late = new LateTurns(TURN_MS, source.clock);
  }

  /** Throws ApiError Overloaded. */
  admit({ client, catchesUp }: StreamRequest): OpenedPlace<Round> {
    const { readersMax, readersOfClientMax } = this.options;
    const isFull =
      this.members.size >= readersMax || this.ofClients.of(client) >= readersOfClientMax;
    if (this.isStopped || isFull) throw apiError('Overloaded');
    const member: Member<Round> = {
      reader: undefined,
      client: undefined,
      isReady: true,
      waiting: 0,
      wroteAt: this.source.clock.monotonic(),
      clientName: client,
      isApart: catchesUp,
      turn: undefined,
    };
    this.add(member);
    return {
      stream: (reader) => {
        this.start();
        return this.streamOf(member, reader);
      },
      release: () => this.remove(member),
    };
  }

  /** Streams that are open. */
  count(): number {
    return this.members.size;
  }

  /** Something new has come. */
  ring(): void {
    this.alarm.ring();
  }

  /** Ends all streams. */
  async stop(): Promise<void> {
    this.isStopped = true;
    for (const member of [...this.members]) this.end(member, 'stopping');
    this.cancelBeats?.();
    this.cancelBeats = undefined;
    this.alarm.ring();
    await this.running;
    await Promise.all(this.turns);
  }

  private streamOf(
    member: Member<Round>,
    reader: ((send: Sink) => StreamReader<Round>) | EndReason,
  ): HttpStream {
    return {
      filler: FILLER,
      begin: (client) => {
        member.client = client;
        if (this.isStopped) this.end(member, 'stopping');
        else if (typeof reader === 'string') this.end(member, reader);
        else member.reader = reader((text) => this.send(member, text));
        this.alarm.ring();
      },
      ready: () => {
        member.isReady = true;
        this.taken(member);
        member.wroteAt = this.source.clock.monotonic();
        this.alarm.ring();
      },
      closed: () => this.remove(member),
    };
  }

  private add(member: Member<Round>): void {
    this.members.add(member);
    this.ofClients.add(member.clientName, 1);
  }

  private remove(member: Member<Round>): void {
    if (!this.members.delete(member)) return;
    this.ofClients.add(member.clientName, -1);
    this.taken(member);
    member.turn?.abort();
  }

  private end(member: Member<Round>, reason: EndReason): void {
    this.remove(member);
    this.source.ended?.(reason);
    member.client?.end(endEvent(reason));
  }

  /** A timer of their own: no turn holds beats up. */
  private beats(): void {
    const { members, source } = this;
    for (const member of [...members]) this.keepAlive(member);
    this.cancelBeats =
      members.size === 0 ? undefined : source.clock.after(BEAT_MS / 4, () => this.beats());
  }

  private keepAlive(member: Member<Round>): void {
    const idleMs = this.source.clock.monotonic() - member.wroteAt;
    if (member.reader === undefined) return;
    if (!member.isReady) {
      if (idleMs >= TAKE_MS_MAX) this.end(member, 'slow');
    } else if (idleMs >= BEAT_MS / 2) member.reader.beat();
  }

  private send(member: Member<Round>, text: string | Uint8Array): void {
    // Its client may have gone during the turn; nobody would take the text off the sum.
    if (!this.members.has(member)) return;
    member.wroteAt = this.source.clock.monotonic();
    member.isReady = member.client!.write(text);
    if (member.isReady) this.taken(member);
    else {
      // A beat in the middle of a turn may wait already.
      member.waiting += text.length;
      this.waiting += text.length;
    }
  }

  /** Ends the slowest where no reader may write; false where the clients have time left. */
  private makesRoom(): boolean {
    while (this.waiting >= WAITING_MAX) {
      const slowest = this.slowest();
      if (this.source.clock.monotonic() - slowest.wroteAt < TAKE_MS_CROWDED) return false;
      this.end(slowest, 'slow');
    }
    return true;
  }

  private taken(member: Member<Round>): void {
    this.waiting -= member.waiting;
    member.waiting = 0;
  }

  /** Of those whose clients must take something. */
  private slowest(): Member<Round> {
    let found: Member<Round> | undefined;
    for (const member of this.members) {
      const isSlower = found === undefined || member.wroteAt < found.wroteAt;
      if (member.waiting > 0 && isSlower) found = member;
    }
    return found!;
  }

  private start(): void {
    if (this.isStopped || this.members.size === 0) return;
    if (this.cancelBeats === undefined) this.beats();
    if (this.running !== undefined) return;
    this.running = this.run().finally(() => {
      this.running = undefined;
      this.start();
    });
  }

  private async run(): Promise<void> {
    const { source, members } = this;
    while (!this.isStopped && members.size > 0) {
      await this.round();
      const isCalm = [...members].every(({ isReady }) => isReady);
      await this.alarm.wait(isCalm ? source.pollMs() : Math.min(source.pollMs(), BEAT_MS / 4));
      // A reader that always has more, and waits for nothing, would let nobody else run.
      await source.clock.turn();
    }
    this.late.stop();
    source.idle?.();
  }

  /** One turn of each reader; those apart begin theirs, as far as there are places. */
  private async round(): Promise<void> {
    const { source, members, apart } = this;
    const now = await source.begin(members.size);
    if (now === undefined) return;
    const slice = new TimeSlice(source.clock);
    const all = [...members];
    for (const [i, member] of all.entries()) {
      const { reader, isReady } = member;
      if (reader === undefined || !isReady || member.turn !== undefined) continue;
      if (!members.has(member)) continue;
      if (!this.makesRoom()) return this.putBehind(all.slice(0, i));
      if (!member.isApart) await this.shortTurn(member, reader, now);
      else if (apart.size < APART_MAX && !apart.has(member.clientName)) {
        this.takeApart(member, reader, now);
      }
      if (slice.isOver()) await slice.yield();
    }
  }

  /** The next round begins with the others. */
  private putBehind(some: readonly Member<Round>[]): void {
    for (const member of some) if (this.members.delete(member)) this.members.add(member);
  }

  private takeApart(member: Member<Round>, reader: StreamReader<Round>, now: Round): void {
    const { members, apart } = this;
    const { clientName } = member;
    // The client that has waited longest is the next, and of its readers the one that has.
    const own = [...members].filter((other) => other !== member && other.clientName === clientName);
    this.putBehind([...own, member]);
    apart.add(clientName);
    void this.begin(member, reader, now).then(() => {
      apart.delete(clientName);
      this.alarm.ring();
    });
  }

  private async shortTurn(member: Member<Round>, reader: StreamReader<Round>, now: Round) {
    await this.late.wait(this.begin(member, reader, now));
    if (member.turn === undefined) return;
    member.isApart = true;
    member.turn.abort();
  }

  /** Resolves when the turn is over; never rejects but where the program is wrong. */
  private begin(member: Member<Round>, reader: StreamReader<Round>, now: Round): Promise<void> {
    const own = new LazyAbort();
    member.turn = own;
    const { clock } = this.source;
    const began = clock.monotonic();
    const turn = this.turnOf(member, reader, now, own).then((outcome) => {
      member.turn = undefined;
      this.turns.delete(turn);
      if (outcome === 'lost') this.end(member, 'place');
      if (outcome === 'done') this.end(member, 'end');
      if (outcome === 'barred') this.end(member, 'key');
      // An ended turn says nothing about how far its reader is.
      const isSlow = clock.monotonic() - began > TURN_MS;
      if (!own.isAborted) member.isApart = outcome === 'more' || isSlow;
      if (outcome === 'more' || own.isAborted) this.alarm.ring();
    });
    this.turns.add(turn);
    return turn;
  }

  private async turnOf(
    member: Member<Round>,
    reader: StreamReader<Round>,
    now: Round,
    turn: LazyAbort,
  ): Promise<Advance> {
    try {
      return await reader.advance(now, turn);
    } catch (cause) {
      if (turn.isAborted) return 'waits';
      const meaning = this.source.failed(cause, member.clientName);
      // A slow question ends its turn, and what took so long runs apart from then on.
      if (meaning !== 'apart') this.end(member, meaning);
      return 'waits';
    }
  }
}
