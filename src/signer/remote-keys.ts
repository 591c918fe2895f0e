/**
 * The keys of a node that a signer holds (docs/protocol/signer.md), as the node sees them.
 *
 * Invariants: one connection at a time; a question gets one answer or fails within its time; what
 * was asked when a connection broke is asked again on the next one, since a signer gives the same
 * bytes the same signature; a signature leaves here only where it is right.
 */
import { apiError } from '../base/errors.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Log } from '../base/ports/log.ts';
import type { Line, LineEvents } from '../base/signer/signer-line.ts';
import type { KeyHolder, SignedKind } from '../base/signer/signing.ts';
import { type ChainScheme, CodecError } from '../codec/codec.ts';
import { BadFrame, FrameReader, frameOf } from './frames.ts';
import {
  type Answer,
  decodeAnswer,
  encodeQuestion,
  type Greeting,
  KEYS_MAX,
  SIGNER_VERSION,
  type ToSign,
} from './signer-messages.ts';

export interface RemoteKeysOptions {
  readonly genesis: Uint8Array;
  /** As in the greeting. */
  readonly consensus: Uint8Array;
  /** Until a question fails. */
  readonly timeoutMs: number;
}

export interface RemoteKeysPorts {
  readonly scheme: ChainScheme;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  /** Begins a connection; `opened` is called once it is there. */
  readonly connect: (events: LineEvents, opened: (line: Line) => void) => Pick<Line, 'close'>;
}

/** Questions that wait for an answer; those beyond fail. */
const ASKED_MAX = 1000;
const [PAUSE_MS_MIN, PAUSE_MS_MAX] = [100, 5000];
/** An answer is a signature, a reason, or all keys; a key has 64 bytes at most. */
const ANSWER_BYTES_MAX = 1024 + 64 * KEYS_MAX;
const GREETING_ID = 0;
const SILENT = 'the signer does not answer';

interface Asked {
  readonly frame: Uint8Array;
  readonly done: (answer: Answer | undefined) => void;
}

export class RemoteKeys implements KeyHolder {
  private readonly options: RemoteKeysOptions;
  private readonly ports: RemoteKeysPorts;
  private readonly asked = new Map<number, Asked>();
  private keys = new Map<string, Uint8Array>();
  private nextId = 1;
  private connection: Pick<Line, 'close'> | undefined;
  /** Set once the signer has greeted. */
  private line: Line | undefined;
  /** The first connection may wait for its greeting until `start` gives up. */
  private trouble = SILENT;
  /** What is wrong with the present connection. */
  private reason: string | undefined;
  private pauseMs = PAUSE_MS_MIN;
  private isStopped = false;
  private wasAway = false;
  private cancel = (): void => {};
  /** Who waits for the keys. */
  private waiting: { readonly greeted: () => void; readonly stopped: () => void } | undefined;
  private refreshing: Promise<void> | undefined;
  private nextRefresh: Promise<void> | undefined;

  constructor(options: RemoteKeysOptions, ports: RemoteKeysPorts) {
    this.options = options;
    this.ports = ports;
  }

  /** Resolves once the signer has told its keys; rejects where it does not in time. */
  start(): Promise<void> {
    const { clock } = this.ports;
    return new Promise((resolve, reject) => {
      const late = clock.after(this.options.timeoutMs, () => this.stop());
      this.waiting = {
        greeted() {
          late();
          resolve();
        },
        stopped: () => {
          late();
          reject(new Error(this.trouble));
        },
      };
      this.connect();
    });
  }

  stop(): void {
    this.isStopped = true;
    this.cancel();
    this.connection?.close();
    this.line = undefined;
    this.waiting?.stopped();
    this.waiting = undefined;
    for (const { done } of this.asked.values()) done(undefined);
  }

  problem(): string | undefined {
    return this.line === undefined ? this.trouble : undefined;
  }

  publicKeys(): readonly Uint8Array[] {
    return [...this.keys.values()];
  }

  publicKeyOf(address: Uint8Array): Uint8Array | undefined {
    return this.keys.get(this.ports.scheme.addressToText(address));
  }

  async sign(
    kind: SignedKind,
    address: Uint8Array,
    message: Uint8Array,
    password = '',
  ): Promise<Uint8Array> {
    const answer = await this.ask({ kind, address, message, password });
    if (answer === undefined) throw apiError('SignerAway');
    if ('signature' in answer) return this.verified(kind, address, message, answer.signature);
    if ('refused' in answer) throw apiError('SignerRefused', answer.refused);
    throw apiError('MissingSenderPrivateKey');
  }

  /**
   * The node believes what it has signed: its block is not checked again, and its vote counts at once.
   * Throws SignerAway, since the signer has signed nothing.
   */
  private verified(
    kind: SignedKind,
    address: Uint8Array,
    message: Uint8Array,
    signature: Uint8Array,
  ): Uint8Array {
    const { scheme, log } = this.ports;
    const key = this.publicKeyOf(address);
    // It has told other keys meanwhile.
    if (key === undefined) throw apiError('MissingSenderPrivateKey');
    if (scheme.verify(key, message, signature)) return signature;
    log.error('signer.wrong-signature', { kind, address: scheme.addressToText(address) });
    throw apiError('SignerAway');
  }

  /**
   * Asks for the keys again. Who asks meanwhile waits for the question after. Rejects with
   * SignerAway.
   */
  refresh(): Promise<void> {
    if (this.refreshing === undefined) {
      this.refreshing = this.askAgain().finally(() => {
        this.refreshing = undefined;
      });
      return this.refreshing;
    }
    this.nextRefresh ??= this.refreshing
      .catch(() => undefined)
      .then(() => {
        this.nextRefresh = undefined;
        return this.refresh();
      });
    return this.nextRefresh;
  }

  private async askAgain(): Promise<void> {
    const { line } = this;
    if (line === undefined) throw apiError('SignerAway');
    this.greet(line);
    await new Promise<void>((resolve, reject) => {
      const away = (): void => {
        late();
        reject(apiError('SignerAway'));
      };
      const late = this.ports.clock.after(this.options.timeoutMs, () => {
        away();
        this.waiting = undefined;
        // On the same connection its late answer would pass for that to the next question.
        if (this.line === line) this.unanswered();
      });
      const greeted = (): void => {
        late();
        resolve();
      };
      this.waiting = { greeted, stopped: away };
    });
  }

  private ask(toSign: ToSign): Promise<Answer | undefined> {
    const { clock, scheme } = this.ports;
    if (this.line === undefined || this.asked.size >= ASKED_MAX) return Promise.resolve(undefined);
    const id = this.nextId;
    this.nextId = id >= 0xffff_ffff ? 1 : id + 1;
    const frame = frameOf(encodeQuestion({ id, toSign }, scheme));
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const late = clock.after(this.options.timeoutMs, () => done(undefined));
    const done = (answer: Answer | undefined): void => {
      late();
      this.asked.delete(id);
      resolve(answer);
    };
    this.asked.set(id, { frame, done });
    this.line.send(frame);
    return promise;
  }

  private connect(): void {
    if (this.isStopped) return;
    this.reason = undefined;
    const reader = new FrameReader(ANSWER_BYTES_MAX);
    let own: Line | undefined;
    const events: LineEvents = {
      data: (chunk) => {
        try {
          for (const body of reader.take(chunk)) this.answered(body, own!);
        } catch (cause) {
          if (!(cause instanceof CodecError) && !(cause instanceof BadFrame)) throw cause;
          this.reason = `the signer does not keep to its protocol: ${cause.message}`;
          own?.close();
        }
      },
      closed: (why) => this.lost(why),
    };
    this.connection = this.ports.connect(events, (line) => {
      own = line;
      this.greet(line);
    });
    // Also where it takes the connection and says nothing.
    this.cancel = this.ports.clock.after(this.options.timeoutMs, () => this.unanswered());
  }

  private unanswered(): void {
    this.line = undefined;
    this.reason = SILENT;
    this.trouble = this.reason;
    this.connection?.close();
  }

  private greet(line: Line): void {
    const { scheme } = this.ports;
    const greeting: Greeting = {
      version: SIGNER_VERSION,
      chainId: scheme.chainId,
      genesis: this.options.genesis,
      consensus: this.options.consensus,
    };
    line.send(frameOf(encodeQuestion({ id: GREETING_ID, greeting }, scheme)));
  }

  /** Throws CodecError. */
  private answered(body: Uint8Array, line: Line): void {
    const { scheme } = this.ports;
    const { id, answer } = decodeAnswer(body, scheme, (one) => one === GREETING_ID);
    if (id !== GREETING_ID) this.asked.get(id)?.done(answer);
    else if ('keys' in answer) this.greeted(answer.keys, line);
    else if ('refused' in answer) this.reason = answer.refused;
  }

  private greeted(keys: readonly Uint8Array[], line: Line): void {
    if (this.isStopped) return;
    const { scheme, log } = this.ports;
    this.cancel();
    this.keys = new Map(keys.map((key) => [scheme.addressToText(scheme.addressOf(key)), key]));
    const isNew = this.line !== line;
    this.line = line;
    this.pauseMs = PAUSE_MS_MIN;
    this.waiting?.greeted();
    this.waiting = undefined;
    if (!isNew) return;
    if (this.wasAway) log.info('signer.returned');
    this.wasAway = false;
    for (const { frame } of this.asked.values()) line.send(frame);
  }

  private lost(why: string): void {
    const { clock, log } = this.ports;
    this.cancel();
    if (this.isStopped) return;
    this.trouble = this.reason ?? why;
    if (!this.wasAway) log.warn('signer.away', { why: this.trouble });
    this.wasAway = true;
    this.line = undefined;
    this.cancel = clock.after(this.pauseMs, () => this.connect());
    this.pauseMs = Math.min(2 * this.pauseMs, PAUSE_MS_MAX);
  }
}
