/**
 * Sessions between simulated nodes: every message takes its time and may get lost, doubled or
 * overtaken; links break and come back. Stands where the transport stands in a real node.
 */
import { latin1 } from '../../src/base/bytes.ts';
import { CodecError } from '../../src/codec/codec.ts';
import type {
  NodeMode,
  NoticeHandler,
  Offence,
  RequestHandler,
  Session,
  Sessions,
} from '../../src/network/session.ts';
import type { Dice } from './random.ts';
import type { World } from './world.ts';

export interface LinkQuality {
  readonly delayMs: number;
  readonly jitterMs: number;
  /** Share of notices that never arrive, and of requests that are never answered. */
  readonly loss: number;
  readonly duplication: number;
}

export interface Party {
  readonly name: string;
  readonly owner: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly mode: NodeMode;
}

export type OnOffence = (by: Party, of: Party, offence: Offence, detail: string) => void;

const RECONNECT_MS = 5_000;
const BROKEN_MS_MAX = 8_000;
const BANNED_MS = 60_000;

/** One node's end of the network. */
export class Port implements Sessions {
  readonly party: Party;
  readonly sessions = new Map<string, SimSession>();
  readonly requests = new Map<string, RequestHandler>();
  readonly notices = new Map<string, NoticeHandler>();
  readonly bannedUntil = new Map<string, number>();
  private readonly opened: ((session: Session) => void)[] = [];
  private readonly closed: ((session: Session, reason: string) => void)[] = [];

  constructor(party: Party) {
    this.party = party;
  }

  all(): readonly Session[] {
    return [...this.sessions.values()];
  }
  of(owner: Uint8Array): Session | undefined {
    return this.sessions.get(latin1(owner));
  }
  onOpen(action: (session: Session) => void): void {
    this.opened.push(action);
  }
  onClose(action: (session: Session, reason: string) => void): void {
    this.closed.push(action);
  }
  handleRequests(protocol: string, handler: RequestHandler): void {
    this.requests.set(protocol, handler);
  }
  handleNotices(protocol: string, handler: NoticeHandler): void {
    this.notices.set(protocol, handler);
  }

  open(session: SimSession): void {
    this.sessions.set(latin1(session.owner), session);
    for (const action of this.opened) action(session);
  }
  drop(session: SimSession, reason: string): void {
    if (this.sessions.get(latin1(session.owner)) !== session) return;
    this.sessions.delete(latin1(session.owner));
    for (const action of this.closed) action(session, reason);
  }
}

/** One side of a connection; `other` is the same connection seen from there. */
class SimSession implements Session {
  readonly nonce = 1n;
  readonly version = '0.0.0';
  readonly agent = 'platform-node';
  readonly outbound = true;
  readonly declaredAddress = undefined;
  readonly remoteHost = '10.0.0.1';
  readonly remotePort = 6864;
  readonly owner: Uint8Array;
  readonly ownerPublicKey: Uint8Array;
  readonly nodeName: string;
  readonly mode: NodeMode;
  readonly home: Port;
  readonly away: Port;
  other!: SimSession;
  isOpen = true;
  private readonly net: SimNetwork;
  private readonly pending = new Set<(error: Error) => void>();

  constructor(net: SimNetwork, home: Port, away: Port) {
    this.net = net;
    this.home = home;
    this.away = away;
    this.owner = away.party.owner;
    this.ownerPublicKey = away.party.publicKey;
    this.nodeName = away.party.name;
    this.mode = away.party.mode;
  }

  notify(protocol: string, message: Uint8Array): boolean {
    if (!this.isOpen) return false;
    const bytes = message.slice();
    const times = this.net.copies(this.home, this.away);
    for (let i = 0; i < times; i++) {
      this.net.deliver(this, () =>
        this.guard(() => {
          const handler = this.away.notices.get(protocol);
          if (handler === undefined) return;
          if (bytes.length > handler.messageBytesMax) throw new CodecError('message', 'too long');
          handler.take(this.other, bytes.slice());
        }),
      );
    }
    return true;
  }

  request(protocol: string, message: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const bytes = message.slice();
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        if (!this.pending.delete(fail)) return;
        cancel();
        reject(error);
      };
      const cancel = this.net.world.after(timeoutMs, () => fail(new Error('timeout')));
      this.pending.add(fail);
      if (!this.isOpen) {
        fail(new Error('the session is closed'));
        return;
      }
      const answered = (answer: Uint8Array): void => {
        this.net.deliver(this.other, () => {
          if (!this.pending.delete(fail)) return;
          cancel();
          resolve(answer);
        });
      };
      if (this.net.copies(this.home, this.away) === 0) return;
      this.net.deliver(this, () => {
        const handler = this.away.requests.get(protocol);
        if (handler === undefined) return fail(new Error('no such protocol'));
        if (bytes.length > handler.messageBytesMax) return this.other.close('too long');
        handler.answer(this.other, bytes).then(
          (answer) => answered(answer.slice()),
          (error: unknown) => {
            if (error instanceof CodecError)
              this.guard(() => {
                throw error;
              });
            else this.net.deliver(this.other, () => fail(new Error(String(error))));
          },
        );
      });
    });
  }

  /** Work at the other side; what it cannot read ends the session there. */
  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      this.other.offend('malformed-message', error.message);
      this.other.close(error.message);
    }
  }

  offend(offence: Offence, detail: string): void {
    this.net.onOffence(this.home.party, this.away.party, offence, detail);
    if (offence === 'unanswered-request' || offence === 'invalid-transactions') return;
    this.home.bannedUntil.set(latin1(this.owner), this.net.world.now + BANNED_MS);
    this.close(offence);
  }

  close(reason: string): void {
    this.end(reason);
    this.net.deliver(this, () => this.other.end('closed by the peer'), true);
  }

  end(reason: string): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    for (const fail of [...this.pending]) fail(new Error(`the session is closed: ${reason}`));
    this.home.drop(this, reason);
  }
}

export class SimNetwork {
  readonly world: World;
  readonly onOffence: OnOffence;
  quality: LinkQuality = { delayMs: 20, jitterMs: 30, loss: 0, duplication: 0 };
  private readonly dice: Dice;
  private readonly ports: Port[] = [];
  /** Names of sender and receiver between whom nothing passes. */
  private readonly cut = new Set<string>();

  constructor(world: World, dice: Dice, onOffence: OnOffence) {
    this.world = world;
    this.dice = dice;
    this.onOffence = onOffence;
  }

  /** A new node, or one that comes back. */
  attach(party: Party): Port {
    const port = new Port(party);
    this.ports.push(port);
    for (const other of this.ports) if (other !== port) this.meet(port, other);
    return port;
  }

  detach(port: Port): void {
    this.ports.splice(this.ports.indexOf(port), 1);
    for (const session of [...port.sessions.values()]) {
      // Without a word: the others find out.
      const { other } = session;
      session.isOpen = false;
      this.world.after(this.dice.between(1, BROKEN_MS_MAX), () => other.end('broken'));
    }
    port.sessions.clear();
  }

  /** Nothing passes from one to the other any more. */
  sever(from: string, to: string): void {
    this.cut.add(`${from}>${to}`);
  }

  healAll(): void {
    this.cut.clear();
  }

  private passes(from: Port, to: Port): boolean {
    return !this.cut.has(`${from.party.name}>${to.party.name}`);
  }

  copies(_from: Port, _to: Port): number {
    if (this.dice.happens(this.quality.loss)) return 0;
    return this.dice.happens(this.quality.duplication) ? 2 : 1;
  }

  /** Runs `action` at the receiver when the message has arrived, if it does. */
  deliver(session: SimSession, action: () => void, evenIfClosed = false): void {
    const { delayMs, jitterMs } = this.quality;
    this.world.after(delayMs + this.dice.below(jitterMs + 1), () => {
      if (!this.passes(session.home, session.away) || !this.ports.includes(session.away)) return;
      if (session.other.isOpen && (evenIfClosed || session.isOpen)) action();
    });
  }

  /** Connects the two whenever that is possible, and notices when it no longer is. */
  private meet(a: Port, b: Port): void {
    const look = (): void => {
      if (!this.ports.includes(a) || !this.ports.includes(b)) return;
      this.world.after(this.dice.between(RECONNECT_MS / 2, RECONNECT_MS), look);
      const [one, other] = [
        a.sessions.get(latin1(b.party.owner)),
        b.sessions.get(latin1(a.party.owner)),
      ];
      const isUp = this.passes(a, b) && this.passes(b, a);
      if (one === undefined && other === undefined) {
        if (isUp && !this.isBanned(a, b) && !this.isBanned(b, a)) this.connect(a, b);
      } else if (!isUp || one === undefined || other === undefined) {
        this.world.after(this.dice.below(BROKEN_MS_MAX), () => {
          one?.end('idle');
          other?.end('idle');
        });
      }
    };
    this.world.after(this.dice.below(500), look);
  }

  private isBanned(by: Port, of: Port): boolean {
    return this.world.now < (by.bannedUntil.get(latin1(of.party.owner)) ?? 0);
  }

  private connect(a: Port, b: Port): void {
    const one = new SimSession(this, a, b);
    const other = new SimSession(this, b, a);
    one.other = other;
    other.other = one;
    a.open(one);
    b.open(other);
  }
}
