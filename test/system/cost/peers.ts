/**
 * For every declared message between nodes: the costliest form that its budget allows, and one step
 * more.
 */
import { contractBudgets } from '../../../src/contracts/statuses/status-messages.ts';
import { networkBudgets } from '../../../src/network/messages/message-budgets.ts';
import { REQUEST_HEAD_BYTES } from '../../../src/network/sessions/requests.ts';
import { privacyBudgets } from '../../../src/privacy/serving/privacy-budgets.ts';
import { eventually } from '../e2e/process.ts';
import { type Attack, judged } from './attack.ts';
import { type Flood, flood } from './flood.ts';
import { type Worst, worstMessages } from './messages.ts';
import { type AttackingPeer, connectPeer } from './peer.ts';
import { peers, type Target } from './target.ts';

/** As the settings have them by default. */
const BLOCK_BYTES = 1024 * 1024;
const PARALLELISM = 10;

/** Does something as one of the members, whose session it ends. */
export async function asPeer(
  target: Target,
  index: number,
  action: (peer: AttackingPeer) => Promise<string>,
): Promise<string> {
  const peer = await connectPeer(target, peers[index % peers.length]!);
  try {
    return await action(peer);
  } finally {
    await peer.close();
  }
}

/** A message longer than any that the protocol has, which ends the session before it is read. */
async function tooLong(peer: AttackingPeer, protocol: string, bytes: number): Promise<string> {
  const stream = await peer.open(protocol);
  await stream.send(new Uint8Array(bytes)).catch(() => {});
  const isClosed = await eventually('the end of the session', async () =>
    peer.isOpen() ? undefined : true,
  ).catch(() => false);
  return judged(isClosed, isClosed ? 'session closed' : 'session open');
}

/** `streams`: for each, the numbers of streams that are tried. */
export function peerAttacks(streams: readonly number[], forMs: number): Attack[] {
  const budgets = [
    ...networkBudgets(BLOCK_BYTES),
    ...contractBudgets,
    ...privacyBudgets(PARALLELISM),
  ];
  let next = 0;
  const attack = (
    name: string,
    act: (peer: AttackingPeer, target: Target) => Promise<string>,
  ): Attack => {
    const index = next++;
    return { name, send: (target) => asPeer(target, index, (peer) => act(peer, target)) };
  };
  return budgets.flatMap(([protocol, { bytesIn }]) => [
    ...streams.map((count) =>
      attack(`\`${protocol}\` the worst message, streams: ${count}`, async (peer, target) => {
        const worst = await worstOf(target, peer, protocol);
        return flood(peer, { ...worst, protocol, streams: count, forMs } satisfies Flood);
      }),
    ),
    attack(`\`${protocol}\` a message of one byte too many`, (peer) =>
      tooLong(peer, protocol, bytesIn + REQUEST_HEAD_BYTES + 1),
    ),
  ]);
}

/** A protocol that declares a budget and has no attack here is a gap of this program. */
export async function worstOf(
  target: Target,
  peer: AttackingPeer,
  protocol: string,
): Promise<Worst> {
  const worst = (await worstMessages(target, peer)).get(protocol);
  if (worst === undefined) throw new Error(`no attack for ${protocol}`);
  return worst;
}
