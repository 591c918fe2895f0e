/** What is final (finality.md). */
import { assert } from '../../base/assert.ts';
import { apiError } from '../../base/errors.ts';
import { finalFloor } from '../../chain/finality/final-floor.ts';
import { headerRowAt } from '../../chain/store/stored-blocks.ts';
import { Int32 } from '../../rest-framework/body.ts';
import { streamed } from '../../rest-framework/json-chunks.ts';
import { Type } from '../../rest-framework/type.ts';
import { Block, blockChunks } from '../block-json.ts';
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
      return blockChunks({ height, ...row }, services, false);
    });
  },
});

const Voter = Type.Object({
  address: Type.String(),
  /** Of its highest vote that this node knows; 0: none. */
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
    justifiedHeight: Int32,
    voters: Type.Array(Voter),
    next: Type.Array(Voter),
    ownVotes: Type.String(),
    waits: Type.Boolean(),
    contradictions: Type.Array(Type.String()),
  }),
  cost: { rows: 10, elements: 3 * limits.listRows },
  handle: (_request, { finality }) => finality?.() ?? INACTIVE,
});

const INACTIVE: FinalityReport = {
  isActive: false,
  finalHeight: 0,
  justifiedHeight: 0,
  voters: [],
  next: [],
  ownVotes: 'off',
  waits: false,
  contradictions: [],
};

export const finality = { final, state };
