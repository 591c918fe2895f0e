/** A registered peer that tells lies: high scores without blocks, junk, and silence. */
import { blockProtocols, encodeHead, encodeIds } from '../../src/network/messages-blocks.ts';
import { encodeTxHashes, txProtocols } from '../../src/network/messages-transactions.ts';
import type { Port } from './network.ts';
import type { Dice } from './random.ts';
import { chain } from './settings.ts';
import type { World } from './world.ts';

const LIE_EVERY_MS = 15_000;

export class Liar {
  private readonly port: Port;
  private readonly world: World;
  private readonly dice: Dice;

  constructor(port: Port, world: World, dice: Dice) {
    this.port = port;
    this.world = world;
    this.dice = dice;
  }

  start(): void {
    const ignore = { messageBytesMax: 100_000_000, take: () => undefined };
    for (const protocol of [...Object.values(blockProtocols), ...Object.values(txProtocols)]) {
      this.port.handleNotices(protocol, ignore);
      this.port.handleRequests(protocol, {
        messageBytesMax: 100_000_000,
        answerBytesMax: 100_000_000,
        concurrent: 10,
        answer: (_session, message) => this.answer(protocol, message),
      });
    }
    this.port.onOpen(() => this.lie());
    this.repeat();
  }

  private repeat(): void {
    this.world.after(this.dice.below(2 * LIE_EVERY_MS), () => {
      this.lie();
      this.repeat();
    });
  }

  private lie(): void {
    const { dice } = this;
    for (const session of this.port.all()) {
      const kind = dice.below(8);
      if (kind < 5) {
        const height = 1 + dice.below(2_000);
        const score = BigInt(height) * 10n ** 18n;
        const head = encodeHead({ height, id: dice.bytes(64), score }, chain);
        session.notify(blockProtocols.head, head);
      } else if (kind < 7) {
        const hashes = Array.from({ length: 1 + dice.below(500) }, () => dice.bytes(32));
        session.notify(txProtocols.hashes, encodeTxHashes(hashes, chain));
      } else {
        session.notify(dice.pick(Object.values(blockProtocols)), dice.bytes(dice.below(300)));
      }
    }
  }

  private answer(protocol: string, message: Uint8Array): Promise<Uint8Array> {
    const { dice } = this;
    const kind = dice.below(4);
    if (kind === 0) return new Promise(() => undefined);
    if (kind === 1) return Promise.resolve(dice.bytes(dice.below(500)));
    if (protocol === blockProtocols.ids && kind === 2) {
      const common = message.slice(2, 66);
      const next = Array.from({ length: dice.below(100) }, () => dice.bytes(64));
      return Promise.resolve(encodeIds({ common, next }, chain));
    }
    return Promise.resolve(new Uint8Array(2));
  }
}
