/**
 * The faults of the connections between simulated hosts. They behave as TCP does: no bytes are lost
 * or doubled within a connection, but it may be slow, stall, or end in the middle of a message.
 * Data sent during a cut are sent again until the connection works.
 */
import type { Delivery, Fate } from '../../simulated/memory-net.ts';
import type { Dice } from './random.ts';
import type { World } from './world.ts';

export interface Quality {
  readonly delayMs: number;
  readonly jitterMs: number;
  /** Share of messages that arrive in part, which ends the connection. */
  readonly breaks: number;
  /** Share of messages that hold up their connection for up to `STALL_MS_MAX`. */
  readonly stalls: number;
}

export const GOOD: Quality = { delayMs: 20, jitterMs: 30, breaks: 0, stalls: 0 };

/** A sender that was not answered tries again after as long as it has tried, at most after this. */
export const RETRANSMISSION_MS_MAX = 30_000;
const STALL_MS_MAX = 50_000;

interface Cut {
  readonly since: number;
  readonly until: number;
}

export class Weather {
  quality = GOOD;
  private readonly world: World;
  private readonly dice: Dice;
  private readonly retransmissionMs: number;
  /** By the hosts it leads from and to. */
  private readonly cuts = new Map<string, Cut>();
  /** How long everything takes beside the rest, by the hosts it leads from and to. */
  private readonly ways = new Map<string, number>();
  /** By the host, until when what it sends waits. */
  private readonly withheld = new Map<string, number>();
  /** By the host, until when what it is sent waits. */
  private readonly deaf = new Map<string, number>();

  constructor(world: World, dice: Dice, retransmissionMs = RETRANSMISSION_MS_MAX) {
    this.retransmissionMs = retransmissionMs;
    this.world = world;
    this.dice = dice;
  }

  /** Nothing passes from the one to the other for so long. */
  cut(from: string, to: string, ms: number): void {
    const { now } = this.world;
    const until = Math.max(now + ms, this.cutOf(from, to)?.until ?? 0);
    this.cuts.set(`${from}>${to}`, { since: now, until });
  }

  /** From now on everything takes so much longer between the two, in both directions. */
  slow(one: string, other: string, ms: number): void {
    this.ways.set(`${one}>${other}`, ms);
    this.ways.set(`${other}>${one}`, ms);
  }

  /** What this host sends arrives after so long, and what it receives comes as always. */
  withhold(from: string, ms: number): void {
    this.withheld.set(from, this.world.now + ms);
  }

  /** What this host is sent arrives after so long, and what it sends goes as always. */
  deafen(to: string, ms: number): void {
    this.deaf.set(to, this.world.now + ms);
  }

  fate({ from, to, protocol, message }: Delivery): Fate {
    const { dice, quality } = this;
    let delayMs = quality.delayMs + dice.below(quality.jitterMs + 1);
    delayMs += this.ways.get(`${from}>${to}`) ?? 0;
    const cut = this.cutOf(from, to);
    const held = Math.max(this.withheld.get(from) ?? 0, this.deaf.get(to) ?? 0);
    delayMs += Math.max(0, held - this.world.now);
    if (cut !== undefined) delayMs += this.whenWhole(cut, isDial(protocol, message));
    if (quality.stalls > 0 && dice.happens(quality.stalls)) delayMs += dice.below(STALL_MS_MAX);
    const truncated = message.length > 0 && quality.breaks > 0 && dice.happens(quality.breaks);
    return { delayMs, truncated };
  }

  /** A connection that was there before the cut has been trying since then. */
  private whenWhole({ since, until }: Cut, isNew: boolean): number {
    const { now } = this.world;
    const pause = Math.min(until - (isNew ? now : since), this.retransmissionMs);
    return until - now + this.dice.below(Math.max(1, pause));
  }

  private cutOf(from: string, to: string): Cut | undefined {
    const key = `${from}>${to}`;
    const cut = this.cuts.get(key);
    if (cut === undefined || cut.until > this.world.now) return cut;
    this.cuts.delete(key);
    return undefined;
  }
}

const isDial = (protocol: string, message: Uint8Array): boolean =>
  protocol === '' && message.length === 0;
