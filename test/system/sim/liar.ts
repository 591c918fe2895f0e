/**
 * A registered node that lies over real sessions: high scores without blocks, transactions that nobody
 * signed, invalid data, and silence.
 */

import { fromLatin1, latin1 } from '../../../src/base/bytes.ts';
import { CodecError } from '../../../src/codec/codec.ts';
import {
  blockProtocols,
  encodeIds,
  encodeTip,
} from '../../../src/network/messages/block-messages.ts';
import {
  decodeTxHashes,
  encodeTxHashes,
  encodeTxs,
  txProtocols,
} from '../../../src/network/messages/transaction-messages.ts';
import type { Session } from '../../../src/network/sessions/session.ts';
import { openBlockchain } from '../../../src/node/open-blockchain.ts';
import { openPeering } from '../../../src/node/open-peering.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { family, quiet, scheme } from '../../chain/chain-harness.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';
import type { Ground } from './node.ts';
import type { Dice } from './random.ts';
import { configOf, liarMember, type Rules } from './settings.ts';
import { nodeClock } from './world.ts';

const LIE_EVERY_MS = 15_000;
const MESSAGE_BYTES_MAX = 100_000_000;

const FORGED_MAX = 6;

/** `forge` makes a transaction that carries no signature of its sender. */
export async function startLiar(
  ground: Ground,
  rules: Rules,
  dice: Dice,
  forge: () => Tx,
): Promise<void> {
  const { world, genesis, verifier } = ground;
  const clock = nodeClock(world, 0);
  const config = configOf(rules, liarMember, rules.members);
  const ports = { scheme, family, verifier, clock, random: dice, log: quiet };
  // It knows the members by the genesis block and never learns more.
  const store = createMemoryStore();
  const { blockchain } = await openBlockchain(config, genesis, { ...ports, store });
  const { account, host } = liarMember;
  const peering = openPeering(config, genesis, {
    ...ports,
    blockchain,
    network: ground.host(host),
    files: undefined,
    version: '1.1.0',
    owner: account,
  });
  if (peering === undefined) throw new Error('the liar has a network');
  const { sessions } = peering;
  const forged = new Forged(dice, forge);
  for (const protocol of [...Object.values(blockProtocols), ...Object.values(txProtocols)]) {
    sessions.handleNotices(protocol, { messageBytesMax: MESSAGE_BYTES_MAX, take: () => undefined });
    sessions.handleRequests(protocol, {
      messageBytesMax: MESSAGE_BYTES_MAX,
      answerBytesMax: MESSAGE_BYTES_MAX,
      concurrent: 10,
      answer: (_session, message) => answer(protocol, message, dice, forged),
    });
  }
  sessions.onOpen((session) => lie(session, dice, forged));
  const lieAgain = (): void => {
    for (const session of sessions.all()) lie(session, dice, forged);
    clock.after(dice.below(2 * LIE_EVERY_MS), lieAgain);
  };
  lieAgain();
  await peering.start();
}

/** What it has announced lately, by hash. */
class Forged {
  private readonly dice: Dice;
  private readonly forge: () => Tx;
  private byHash = new Map<string, Uint8Array>();

  constructor(dice: Dice, forge: () => Tx) {
    this.dice = dice;
    this.forge = forge;
  }

  next(): Uint8Array[] {
    const all = Array.from({ length: 1 + this.dice.below(FORGED_MAX) }, () => this.forge().bytes);
    this.byHash = new Map(all.map((bytes) => [latin1(scheme.fastHash(bytes)), bytes]));
    return Array.from(this.byHash.keys(), fromLatin1);
  }

  /** Those that the request names. */
  answer(message: Uint8Array): Uint8Array {
    try {
      const asked = decodeTxHashes(message, scheme);
      return encodeTxs(
        asked.flatMap((hash) => this.byHash.get(latin1(hash)) ?? []),
        scheme,
      );
    } catch (error) {
      if (error instanceof CodecError) return new Uint8Array(2);
      throw error;
    }
  }
}

function lie(session: Session, dice: Dice, forged: Forged): void {
  const kind = dice.below(10);
  if (kind < 5) {
    const height = 1 + dice.below(2_000);
    const score = BigInt(height) * 10n ** 18n;
    const head = encodeTip({ height, id: dice.bytes(64), score }, scheme);
    session.notify(blockProtocols.head, head);
  } else if (kind < 7) {
    const hashes = Array.from({ length: 1 + dice.below(500) }, () => dice.bytes(32));
    session.notify(txProtocols.hashes, encodeTxHashes(hashes, scheme));
  } else if (kind < 9) {
    session.notify(txProtocols.hashes, encodeTxHashes(forged.next(), scheme));
  } else {
    session.notify(dice.pick(Object.values(blockProtocols)), dice.bytes(dice.below(300)));
  }
}

function answer(
  protocol: string,
  message: Uint8Array,
  dice: Dice,
  forged: Forged,
): Promise<Uint8Array> {
  const kind = dice.below(4);
  if (protocol === txProtocols.txs && kind > 0) return Promise.resolve(forged.answer(message));
  if (kind === 0) return new Promise(() => undefined);
  if (kind === 1) return Promise.resolve(dice.bytes(dice.below(500)));
  if (protocol === blockProtocols.ids && kind === 2) {
    const common = message.slice(2, 66);
    const next = Array.from({ length: dice.below(100) }, () => dice.bytes(64));
    return Promise.resolve(encodeIds({ common, next }, scheme));
  }
  return Promise.resolve(new Uint8Array(2));
}
