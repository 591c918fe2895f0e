/** Blocks and headers. */

import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { TRANSACTIONS_MAX } from '../../block/block.ts';
import { headerRowAt, type Part } from '../../chain/store/stored-blocks.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { printed } from '../../rest-framework/answer.ts';
import { Int32 } from '../../rest-framework/body.ts';
import { joined, mapped, type StreamedAnswer, streamed } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import {
  Block,
  blockChunks,
  Header,
  headerText,
  LastBlock,
  type PlacedHeader,
} from '../block-json.ts';
import { heightById } from '../by-id.ts';
import { finalHeight } from '../final-mark.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { ChainView, Services } from '../services.ts';

const route = routesIn('blocks');
const NO_BLOCK = JSON.stringify({ status: 'error', details: 'No block for this height' });
const NO_CHILD = JSON.stringify({ status: 'error', details: 'No child blocks' });

/** The rows of one block: its transactions, and the state of a lease for each. */
const blockCost = { streamed: true, rows: limits.listRows };
const blocksCost = { streamed: true, rows: limits.entryRows };

const from = params.positive('First height.');
const to = params.positive('Last height, at most 99 above the first.');
const Height = Type.Object({ height: Int32 });

/** The height of the block with this signature. Throws ApiError BlockNotFound. */
export function heightOf(signature: Uint8Array, { view }: Pick<ChainView, 'view'>): number {
  const height = heightById(view, signature);
  if (height === undefined) throw apiError('BlockNotFound', base58.encode(signature));
  return height;
}

/** Undefined above the last block. */
function headerAt(view: LedgerView, height: number): PlacedHeader | undefined {
  const row = headerRowAt(view, height);
  return row && { height, ...row };
}

/** The whole block at the height that `find` gives, from one state of the chain. */
const block = (
  find: (services: Services) => number,
  { extended = false, absent = NO_BLOCK, part = undefined as Part | undefined } = {},
): StreamedAnswer<Services> =>
  streamed((services) => {
    const placed = headerAt(services.view, find(services));
    return placed === undefined ? [absent] : blockChunks(placed, services, { extended, part });
  });

const header = (height: number, services: Services) =>
  printed(headerText(height, services) ?? NO_BLOCK);

const height = route({
  method: 'GET',
  path: '/blocks/height',
  access: 'public',
  doc: 'Height of the last block.',
  reply: Height,
  handle: (_request, { height }) => printed(`{"height":${height()}}`),
});

const heightOfSignature = route({
  method: 'GET',
  path: '/blocks/height/{signature}',
  access: 'public',
  doc: 'Height of a block.',
  params: { signature: params.blockSignature },
  reply: Height,
  handle: ({ params: { signature } }, services) => ({ height: heightOf(signature, services) }),
});

const first = route({
  method: 'GET',
  path: '/blocks/first',
  access: 'public',
  doc: 'The genesis block.',
  reply: Block,
  cost: blockCost,
  handle: () => block(() => 1),
});

const last = route({
  method: 'GET',
  path: '/blocks/last',
  access: 'public',
  doc: 'The last block; with `finalHeight` where voters make blocks final.',
  reply: LastBlock,
  cost: blockCost,
  handle: () =>
    streamed((services) => {
      const placed = headerAt(services.view, services.height())!;
      return blockChunks(placed, services, { finalHeight: true });
    }),
});

const at = route({
  method: 'GET',
  path: '/blocks/at/{height}',
  access: 'public',
  doc:
    'The block at a height; above the last one a status object. A block that is too long for one ' +
    'answer is read in parts.',
  params: { height: params.height },
  query: {
    offset: params.optional(params.nonNegative('Transactions that are left out before.'), 0),
    limit: params.optional(params.positive('The most transactions to list.'), TRANSACTIONS_MAX),
  },
  reply: Block,
  cost: blockCost,
  handle: ({ params: { height }, query: part }) => block(() => height, { extended: true, part }),
});

const headerOf = route({
  method: 'GET',
  path: '/blocks/headers/at/{height}',
  access: 'public',
  doc: 'The header at a height; above the last one a status object.',
  params: { height: params.height },
  reply: Header,
  handle: ({ params: { height } }, services) => header(height, services),
});

const headerLast = route({
  method: 'GET',
  path: '/blocks/headers/last',
  access: 'public',
  doc: 'The last header.',
  reply: Header,
  handle: (_request, services) => header(services.height(), services),
});

/** Refuses a range that is empty or too long. */
function checkRange(from: number, to: number): void {
  if (to < from) {
    throw apiError('Invalid', `Invalid interval: end '${to}' less than start '${from}'`);
  }
  if (to - from >= limits.blockRange) throw apiError('TooBigSequence');
}

/** The headers of the existing heights of a range. */
function* headersOf(from: number, to: number, state: ChainView): Generator<PlacedHeader> {
  const top = Math.min(to, state.height());
  for (let height = from; height <= top; height++) yield headerAt(state.view, height)!;
}

function manyBlocks(from: number, to: number, extended: boolean): StreamedAnswer<Services> {
  checkRange(from, to);
  return streamed((services) =>
    joined(
      mapped(headersOf(from, to, services), (placed) =>
        blockChunks(placed, services, { extended }),
      ),
    ),
  );
}

const seq = route({
  method: 'GET',
  path: '/blocks/seq/{from}/{to}',
  access: 'public',
  doc: 'Up to 100 blocks.',
  params: { from, to },
  reply: Type.Array(Block),
  cost: blocksCost,
  handle: ({ params: { from, to } }) => manyBlocks(from, to, false),
});

const seqext = route({
  method: 'GET',
  path: '/blocks/seqext/{from}/{to}',
  access: 'public',
  doc: 'Up to 100 blocks with the state of leases in their transactions.',
  params: { from, to },
  reply: Type.Array(Block),
  cost: blocksCost,
  handle: ({ params: { from, to } }) => manyBlocks(from, to, true),
});

const headersSeq = route({
  method: 'GET',
  path: '/blocks/headers/seq/{from}/{to}',
  access: 'public',
  doc: 'Up to 100 headers.',
  params: { from, to },
  reply: Type.Array(Header),
  handle({ params: { from, to } }, services) {
    checkRange(from, to);
    const top = Math.min(to, services.height());
    const final = finalHeight(services);
    const texts: string[] = [];
    for (let height = from; height <= top; height++) {
      texts.push(headerText(height, services, final)!);
    }
    return printed(`[${texts.join(',')}]`);
  },
});

const bySignature = route({
  method: 'GET',
  path: '/blocks/signature/{signature}',
  access: 'public',
  doc: 'A block by its signature.',
  params: { signature: params.blockSignature },
  reply: Block,
  cost: blockCost,
  handle: ({ params: { signature } }) => block((services) => heightOf(signature, services)),
});

const ofGenerator = route({
  method: 'GET',
  path: '/blocks/address/{address}/{from}/{to}',
  access: 'public',
  doc: 'The blocks of one generator among up to 100 heights.',
  params: {
    address: params.text('Address of the generator; a malformed address matches no block.'),
    from,
    to,
  },
  reply: Type.Array(Block),
  cost: blocksCost,
  handle({ params: { address, from, to } }, { scheme }) {
    if (to < from) throw apiError('TooBigSequence');
    checkRange(from, to);
    const bare = address.replace(/^address:/, '');
    const isTheirs = ({ header }: PlacedHeader) =>
      scheme.addressToText(scheme.addressOf(header.generator)) === bare;
    return streamed((services) =>
      joined(
        mapped(headersOf(from, to, services), (placed) =>
          isTheirs(placed) ? blockChunks(placed, services) : undefined,
        ),
      ),
    );
  },
});

const child = route({
  method: 'GET',
  path: '/blocks/child/{signature}',
  access: 'public',
  doc: 'The block after this one; after the last one a status object.',
  params: { signature: params.blockSignature },
  reply: Block,
  cost: blockCost,
  handle: ({ params: { signature } }) =>
    block((services) => heightOf(signature, services) + 1, { absent: NO_CHILD }),
});

export const blocks = {
  height,
  heightOfSignature,
  first,
  last,
  at,
  seq,
  seqext,
  bySignature,
  ofGenerator,
  child,
  headerAt: headerOf,
  headerLast,
  headersSeq,
};
