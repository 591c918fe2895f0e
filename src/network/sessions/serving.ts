/**
 * Serves one peer, on streams that the other side has opened.
 *
 * Invariants: the node serves no faster than the pace of the owner, and no more of a protocol at a
 * time than it allows; a malformed message ends the stream and is an offence.
 */
import { isOurs } from '../../base/assert.ts';
import { pause } from '../../base/deadline.ts';
import { misconduct } from '../../base/faults/misconduct.ts';
import type { PaceLimits } from '../../base/limits/budget.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { MalformedStream, type PeerStream } from '../../base/ports/network.ts';
import { CodecError } from '../../codec/codec.ts';
import type { ConnectedSession, StreamHandler } from './connected-session.ts';
import type { Life } from './life.ts';
import { readNotices } from './notices.ts';
import { type Pace, type Paces, paced } from './pace.ts';
import { answerRequests } from './requests.ts';
import { Semaphores } from './semaphores.ts';
import type { NoticeHandler, RequestHandler } from './session.ts';

export interface ServingPorts {
  readonly clock: Clock;
  readonly paces: Paces;
}

export class Serving {
  private readonly session: ConnectedSession;
  private readonly life: Life;
  private readonly ports: ServingPorts;
  private readonly semaphores = new Semaphores();

  constructor(session: ConnectedSession, life: Life, ports: ServingPorts) {
    this.session = session;
    this.life = life;
    this.ports = ports;
  }

  requests(protocol: string, handler: RequestHandler, stream: PeerStream): Promise<void> {
    const { session, life } = this;
    const { clock } = this.ports;
    return this.served(stream, () => {
      const places = this.semaphores.of(protocol, handler.concurrent);
      return answerRequests(
        stream,
        clock,
        places,
        this.pace(protocol, handler),
        async (message) => {
          life.requireOpen();
          life.hear();
          return handler.answer(session, message);
        },
      );
    });
  }

  stream(protocol: string, handler: StreamHandler, stream: PeerStream): Promise<void> {
    const { session, life } = this;
    const { clock } = this.ports;
    return this.served(stream, async () => {
      const pace = this.pace(protocol, handler);
      await pause(clock, pace.spend(0));
      const release = await this.semaphores.of(protocol, handler.concurrent).acquire();
      try {
        if (!life.isOpen) return stream.abort();
        const charge = (bytes: number): void => void pace.spend(bytes, 0);
        await handler.serve(session, paced(stream, pace, clock), charge);
      } finally {
        release();
      }
    });
  }

  async notices(protocol: string, handler: NoticeHandler, stream: PeerStream): Promise<void> {
    const { session, life } = this;
    try {
      await readNotices(stream, {
        clock: this.ports.clock,
        pace: this.pace(protocol, handler),
        isOpen: () => life.isOpen,
        take(message) {
          life.hear();
          handler.take(session, message);
        },
        onFlood: () => session.offend('flood', misconduct('more notices than can be read')),
      });
    } catch (cause) {
      this.judge(cause);
      session.close(`notices: ${(cause as Error).message}`);
    }
  }

  private pace(protocol: string, { pace }: { readonly pace?: PaceLimits }): Pace {
    return this.ports.paces.of(this.session.owner, protocol, pace);
  }

  private async served(stream: PeerStream, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (cause) {
      stream.abort();
      this.judge(cause);
    }
  }

  private judge(cause: unknown): void {
    if (cause instanceof CodecError || cause instanceof MalformedStream) {
      this.session.offend('malformed-message', cause);
    } else if (isOurs(cause)) {
      throw cause;
    }
  }
}
