/**
 * Health for supervisors and load balancers. Alive: a restart would not help. Ready: the node
 * serves clients well. The answer is 200, or 503 with the reasons.
 */

import { headerRowAt } from '../../chain/store/stored-blocks.ts';
import { answer } from '../../rest-framework/answer.ts';
import { Int32, Int64 } from '../../rest-framework/body.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { routesIn } from '../route.ts';
import type { Services } from '../services.ts';

const route = routesIn('health');
const BLOCKS_BEHIND_MAX = 10;

const Reason = Type.Object({ code: Type.String(), message: Type.String() });
type Reason = { readonly code: string; readonly message: string };

const Live = Type.Object({ status: Type.String(), reasons: Type.Array(Reason) });
const Ready = Type.Object({
  ...Live.properties,
  height: Int32,
  tipAge: Int64,
  blocksBehind: Int32,
  peers: Int32,
  contracts: Type.Union([Type.Literal('on'), Type.Literal('off'), Type.Literal('away')], {
    description: 'Whether this node executes contracts, and away while its engine does not answer.',
  }),
  signer: Type.Union([Type.Literal('on'), Type.Literal('off'), Type.Literal('away')], {
    description:
      'Whether a signer holds the keys of this node, and away while it does not answer: then the node makes no block.',
  }),
});

/** Faults that only an operator or a restart can remove. */
function* faults({ node, pool }: Services): Generator<Reason> {
  const store = node.problem();
  if (store !== undefined) yield { code: 'store', message: store };
  const journal = pool.problem?.();
  if (journal !== undefined) yield { code: 'pool-journal', message: journal };
  const turns = node.minerJournal?.();
  if (turns !== undefined) yield { code: 'miner-journal', message: turns };
}

const live = route({
  method: 'GET',
  path: '/health/live',
  access: 'public',
  doc: 'Whether the node works at all; 503 while the store or a journal is broken.',
  reply: Live,
  unavailable: Live,
  handle(_request, services) {
    const reasons = [...faults(services)];
    const works = reasons.length === 0;
    return answer(works ? 200 : 503, { status: works ? 'live' : 'broken', reasons });
  },
});

function blockIntervalMs({ consensus }: Services): number {
  const { type, averageBlockDelay, roundDuration, syncDuration } = consensus;
  return type === 'pos' ? averageBlockDelay.ms : roundDuration.ms + syncDuration.ms;
}

const ready = route({
  method: 'GET',
  path: '/health/ready',
  access: 'public',
  doc:
    'Whether the node should get requests; 503 also while it is behind, has too few peers or an ' +
    'almost full disk, is no member of its network, or knows of two final blocks that contradict each other.',
  query: {
    maxBlocksBehind: params.optional(
      params.nonNegative(
        `Rounds without a block that still count as healthy; default ${BLOCKS_BEHIND_MAX}.`,
      ),
      BLOCKS_BEHIND_MAX,
    ),
    minPeers: params.optional(params.nonNegative('Connected nodes required; default 0.'), 0),
  },
  reply: Ready,
  unavailable: Ready,
  handle({ query: { maxBlocksBehind, minPeers } }, services) {
    const { view, clock } = services;
    const height = services.height();
    const tipAge = Math.max(0, clock.now() - (headerRowAt(view, height)?.header.timestamp ?? 0));
    // The round of the last block ends after one interval, and the next block may take another.
    const intervals = Math.floor(tipAge / Math.max(1, blockIntervalMs(services)));
    const blocksBehind = Math.max(0, intervals - 1);
    const peers = services.peers?.sessions.all().length ?? 0;
    const reasons = [...faults(services)];
    const because = (code: string, message: string) => void reasons.push({ code, message });
    if (blocksBehind > maxBlocksBehind) {
      because('tip-too-old', `the last block is ${Math.round(tipAge / 1000)} s old`);
    }
    const space = services.node.space?.();
    if (space !== undefined) because('disk', space);
    if (!clock.synchronized()) because('no-time', 'the time servers were of no use for too long');
    const outside = services.node.outside();
    if (outside !== undefined) because('shut-out', outside);
    const conflict = services.node.conflict?.();
    if (conflict !== undefined) because('finality-conflict', conflict);
    if (peers < minPeers) because('peers', `${peers} of at least ${minPeers} nodes connected`);
    const well = reasons.length === 0;
    const status = well ? 'ready' : 'not ready';
    return answer(well ? 200 : 503, {
      status,
      reasons,
      height,
      tipAge,
      blocksBehind,
      peers,
      // Calls wait for another miner, so a missing engine makes no node unready.
      contracts: services.execution(),
      // It validates and serves all the same.
      signer: services.signer(),
    });
  },
});

export const health = { live, ready };
