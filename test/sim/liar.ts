/**
 * A registered node that lies over real sessions: high scores without blocks, invalid data, and
 * silence.
 */

import {
  blockProtocols,
  encodeHead,
  encodeIds,
} from '../../src/network/messages/block-messages.ts';
import { encodeTxHashes, txProtocols } from '../../src/network/messages/transaction-messages.ts';
import type { Session } from '../../src/network/sessions/session.ts';
import { openBlockchain } from '../../src/node/open-blockchain.ts';
import { openPeering } from '../../src/node/open-peering.ts';
import { family, quiet, scheme } from '../chain/chain-harness.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import type { Ground } from './node.ts';
import type { Dice } from './random.ts';
import { configOf, liarMember, type Rules } from './settings.ts';
import { nodeClock } from './world.ts';

const LIE_EVERY_MS = 15_000;
const MESSAGE_BYTES_MAX = 100_000_000;

export async function startLiar(ground: Ground, rules: Rules, dice: Dice): Promise<void> {
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
  for (const protocol of [...Object.values(blockProtocols), ...Object.values(txProtocols)]) {
    sessions.handleNotices(protocol, { messageBytesMax: MESSAGE_BYTES_MAX, take: () => undefined });
    sessions.handleRequests(protocol, {
      messageBytesMax: MESSAGE_BYTES_MAX,
      answerBytesMax: MESSAGE_BYTES_MAX,
      concurrent: 10,
      answer: (_session, message) => answer(protocol, message, dice),
    });
  }
  sessions.onOpen((session) => lie(session, dice));
  const lieAgain = (): void => {
    for (const session of sessions.all()) lie(session, dice);
    clock.after(dice.below(2 * LIE_EVERY_MS), lieAgain);
  };
  lieAgain();
  await peering.start();
}

function lie(session: Session, dice: Dice): void {
  const kind = dice.below(8);
  if (kind < 5) {
    const height = 1 + dice.below(2_000);
    const score = BigInt(height) * 10n ** 18n;
    const head = encodeHead({ height, id: dice.bytes(64), score }, scheme);
    session.notify(blockProtocols.head, head);
  } else if (kind < 7) {
    const hashes = Array.from({ length: 1 + dice.below(500) }, () => dice.bytes(32));
    session.notify(txProtocols.hashes, encodeTxHashes(hashes, scheme));
  } else {
    session.notify(dice.pick(Object.values(blockProtocols)), dice.bytes(dice.below(300)));
  }
}

function answer(protocol: string, message: Uint8Array, dice: Dice): Promise<Uint8Array> {
  const kind = dice.below(4);
  if (kind === 0) return new Promise(() => undefined);
  if (kind === 1) return Promise.resolve(dice.bytes(dice.below(500)));
  if (protocol === blockProtocols.ids && kind === 2) {
    const common = message.slice(2, 66);
    const next = Array.from({ length: dice.below(100) }, () => dice.bytes(64));
    return Promise.resolve(encodeIds({ common, next }, scheme));
  }
  return Promise.resolve(new Uint8Array(2));
}
