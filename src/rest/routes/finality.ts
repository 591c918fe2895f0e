/** What is final (finality.md). */

import { assert } from '../../base/assert.ts';
import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { proofOfBlock } from '../../chain/finality/block-proof.ts';
import { finalFloor } from '../../chain/finality/final-floor.ts';
import { headerRowAt } from '../../chain/store/stored-blocks.ts';
import { base64 } from '../../codec/text.ts';
import { stepsToJson } from '../../finality/proofs/offline-proof-json.ts';
import { evidenceToJson } from '../../finality/votes/evidence-json.ts';
import { Int32 } from '../../rest-framework/body.ts';
import { endingWith, listOf, mapped, streamed, textsOf } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { Block, blockChunks } from '../block-json.ts';
import { heightById } from '../by-id.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { FinalityReport } from '../services.ts';

const route = routesIn('blocks');

const final = route({
  method: 'GET',
  path: '/blocks/final',
  access: 'public',
  doc: 'The highest final block, which is never taken back; 404 where there is none.',
  reply: Block,
  cost: { streamed: true, rows: limits.listRows },
  handle(_request, { view }) {
    const height = finalFloor(view);
    if (height === 0) throw apiError('BlockNotFound', 'final');
    return streamed((services) => {
      const row = headerRowAt(services.view, height);
      assert(row !== undefined, 'a final block stays');
      return blockChunks({ height, ...row }, services);
    });
  },
});

const Voter = Type.Object({
  address: Type.String(),
  /** The height of its highest vote that this node knows; 0 where it knows none. */
  votedHeight: Int32,
});

const state = route({
  method: 'GET',
  path: '/finality',
  access: 'public',
  doc:
    'Who votes on blocks, and what is justified and final. `isActive` is false where feature 1004 is not ' +
    'active; `waits`: this node makes no block before a quorum has voted.',
  reply: Type.Object({
    isActive: Type.Boolean(),
    finalHeight: Int32,
    /** The hash of the voters after the final block: with its height, a checkpoint for offline proofs. */
    finalRuleHash: Type.String(),
    justifiedHeight: Int32,
    voters: Type.Array(Voter),
    next: Type.Array(Voter),
    ownVotes: Type.String(),
    waits: Type.Boolean(),
    /** Two final blocks that contradict each other, which have stopped this node; empty: none. */
    conflict: Type.String(),
    contradictions: Type.Array(Type.String()),
    /** The last block of this node, by the hash of its header, Base58. */
    headHeight: Int32,
    headHash: Type.String(),
    /** What operators have decided (`finality.overrides`). */
    overrides: Type.Array(
      Type.Object({
        height: Int32,
        header: Type.String(),
        voters: Type.Array(Type.String()),
        isApplied: Type.Boolean(),
      }),
    ),
  }),
  cost: { rows: 10, elements: 3 * limits.listRows },
  handle: (_request, { finality }) => finality?.() ?? INACTIVE,
});

const INACTIVE: FinalityReport = {
  isActive: false,
  finalHeight: 0,
  finalRuleHash: '',
  justifiedHeight: 0,
  voters: [],
  next: [],
  ownVotes: 'off',
  waits: false,
  conflict: '',
  contradictions: [],
  headHeight: 0,
  headHash: '',
  overrides: [],
};

const proof = route({
  method: 'GET',
  path: '/blocks/{id}/proof',
  access: 'public',
  doc:
    'The proof that a block is final, for `platform-node block verify-proof`, which needs no chain. It begins at ' +
    'the sets of voters that the block at height `from` leaves; left out: at the root.',
  params: { id: params.blockSignature },
  query: {
    from: params.optional(params.positive('Height of a block that is trusted.'), undefined),
  },
  reply: Type.Object({
    height: Int32,
    finalHeight: Int32,
    steps: Type.Array(Type.Object({ proof: Type.String(), sets: Type.String() })),
    headers: Type.Array(Type.String()),
  }),
  cost: { streamed: true, rows: limits.listRows },
  handle: ({ params: { id }, query: { from } }) =>
    streamed(({ view, scheme, rules }) => {
      const height = heightById(view, id);
      if (height === undefined) throw apiError('BlockNotFound', base58.encode(id));
      const { steps, final, headers } = proofOfBlock(view, rules, height, from);
      const shown = stepsToJson(steps, scheme);
      if (shown.reduce((sum, { proof }) => sum + proof.length, 0) > limits.proofChars) {
        throw apiError('TooBigSequence', "the proof is too long; name a later height as 'from'");
      }
      return endingWith(
        { height, finalHeight: final, steps: shown },
        'headers',
        textsOf(mapped(headers, (bytes) => JSON.stringify(base64.encode(bytes)))),
      );
    }),
});

const evidence = route({
  method: 'GET',
  path: '/finality/evidence',
  access: 'public',
  doc:
    'Two votes that contradict each other, of each voter of whom this node has them; at most 1,000 pairs. ' +
    '`platform-node finality verify-evidence` checks one without a chain.',
  reply: Type.Array(
    Type.Object({ address: Type.String(), first: Type.String(), second: Type.String() }),
  ),
  cost: { streamed: true },
  handle: (_request, { evidence, scheme }) =>
    streamed(() => listOf(evidence?.() ?? [], (pair) => evidenceToJson(pair, scheme))),
});

export const finality = { final, state, proof, evidence };
