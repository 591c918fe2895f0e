/** Blocks and headers (rest-api.md §12). */
import Type from 'typebox';
import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { details, print, printed } from '../answer.ts';
import { Block, blockJson, Header, headerJson } from '../block-json.ts';
import { Int32 } from '../body.ts';
import { limits } from '../limits.ts';
import * as params from '../params.ts';
import { route } from '../route.ts';
import type { BlockView, HeaderView, Services } from '../services.ts';

const group = 'blocks';
const NO_BLOCK = details(200, 'No block for this height');
const NO_CHILD = details(200, 'No child blocks');

const from = params.positive('First height.');
const to = params.positive('Last height, at most 99 above the first.');
const Height = Type.Object({ height: Int32 });

/** Height of the block with this signature. Throws ApiError BlockNotFound. */
export function heightOf(signature: Uint8Array, { chain }: Pick<Services, 'chain'>): number {
  const height = chain.heightOf(signature);
  if (height === undefined) throw apiError('BlockNotFound', base58.encode(signature));
  return height;
}

const block = (view: BlockView | undefined, services: Services, extended = false) =>
  view === undefined ? NO_BLOCK : printed(print(blockJson(view, services, extended)));

const header = (view: HeaderView | undefined, services: Services) =>
  view === undefined ? NO_BLOCK : printed(print(headerJson(view, services)));

const height = route({
  method: 'GET',
  path: '/blocks/height',
  access: 'public',
  group,
  doc: 'Height of the last block.',
  reply: Height,
  handle: (_request, { chain }) => printed(`{"height":${chain.height()}}`),
});

const heightOfSignature = route({
  method: 'GET',
  path: '/blocks/height/{signature}',
  access: 'public',
  group,
  doc: 'Height of a block.',
  params: { signature: params.blockSignature },
  reply: Height,
  handle: ({ params: { signature } }, services) => ({ height: heightOf(signature, services) }),
});

const first = route({
  method: 'GET',
  path: '/blocks/first',
  access: 'public',
  group,
  doc: 'The genesis block.',
  reply: Block,
  handle: (_request, services) => block(services.chain.blockAt(1), services),
});

const last = route({
  method: 'GET',
  path: '/blocks/last',
  access: 'public',
  group,
  doc: 'The last block.',
  reply: Block,
  handle: (_request, services) => block(services.chain.blockAt(services.chain.height()), services),
});

const at = route({
  method: 'GET',
  path: '/blocks/at/{height}',
  access: 'public',
  group,
  doc: 'The block at a height; above the last one a status object.',
  params: { height: params.height },
  reply: Block,
  handle: ({ params: { height } }, services) =>
    block(services.chain.blockAt(height), services, true),
});

const headerAt = route({
  method: 'GET',
  path: '/blocks/headers/at/{height}',
  access: 'public',
  group,
  doc: 'The header at a height; above the last one a status object.',
  params: { height: params.height },
  reply: Header,
  handle: ({ params: { height } }, services) => header(services.chain.headerAt(height), services),
});

const headerLast = route({
  method: 'GET',
  path: '/blocks/headers/last',
  access: 'public',
  group,
  doc: 'The last header.',
  reply: Header,
  handle: (_request, services) =>
    header(services.chain.headerAt(services.chain.height()), services),
});

/** Calls `show` for each existing height; refuses a range that is empty or too long. */
function range<T>(from: number, to: number, chainHeight: number, show: (height: number) => T): T[] {
  if (to < from) {
    throw apiError('Invalid', `Invalid interval: end '${to}' less than start '${from}'`);
  }
  if (to - from >= limits.blockRange) throw apiError('TooBigSequence');
  const top = Math.min(to, chainHeight);
  const out: T[] = [];
  for (let h = from; h <= top; h++) out.push(show(h));
  return out;
}

function manyBlocks(from: number, to: number, services: Services, extended: boolean) {
  const { chain } = services;
  // The tip may not fall below `height` while this runs: everything here is synchronous.
  return printed(
    print(range(from, to, chain.height(), (h) => blockJson(chain.blockAt(h)!, services, extended))),
  );
}

const seq = route({
  method: 'GET',
  path: '/blocks/seq/{from}/{to}',
  access: 'public',
  group,
  doc: 'Up to 100 blocks.',
  params: { from, to },
  reply: Type.Array(Block),
  handle: ({ params: { from, to } }, services) => manyBlocks(from, to, services, false),
});

const seqext = route({
  method: 'GET',
  path: '/blocks/seqext/{from}/{to}',
  access: 'public',
  group,
  doc: 'Up to 100 blocks with the state of leases in their transactions.',
  params: { from, to },
  reply: Type.Array(Block),
  handle: ({ params: { from, to } }, services) => manyBlocks(from, to, services, true),
});

const headersSeq = route({
  method: 'GET',
  path: '/blocks/headers/seq/{from}/{to}',
  access: 'public',
  group,
  doc: 'Up to 100 headers.',
  params: { from, to },
  reply: Type.Array(Header),
  handle({ params: { from, to } }, services) {
    const { chain } = services;
    const shown = range(from, to, chain.height(), (h) => headerJson(chain.headerAt(h)!, services));
    return printed(print(shown));
  },
});

const bySignature = route({
  method: 'GET',
  path: '/blocks/signature/{signature}',
  access: 'public',
  group,
  doc: 'A block by its signature.',
  params: { signature: params.blockSignature },
  reply: Block,
  handle: ({ params: { signature } }, services) =>
    block(services.chain.blockAt(heightOf(signature, services)), services),
});

const ofGenerator = route({
  method: 'GET',
  path: '/blocks/address/{address}/{from}/{to}',
  access: 'public',
  group,
  doc: 'The blocks of one generator among up to 100 heights.',
  params: { address: params.text('Address of the generator; a malformed one has none.'), from, to },
  reply: Type.Array(Block),
  handle({ params: { address, from, to } }, services) {
    if (to < from) throw apiError('TooBigSequence');
    const { chain, codec } = services;
    const bare = address.replace(/^address:/, '');
    const shown = range(from, to, chain.height(), (h) =>
      codec.addressToText(chain.headerAt(h)!.generator) === bare
        ? blockJson(chain.blockAt(h)!, services, false)
        : undefined,
    );
    return printed(print(shown.filter((json) => json !== undefined)));
  },
});

const child = route({
  method: 'GET',
  path: '/blocks/child/{signature}',
  access: 'public',
  group,
  doc: 'The block after this one; after the last one a status object.',
  params: { signature: params.blockSignature },
  reply: Block,
  handle({ params: { signature } }, services) {
    const view = services.chain.blockAt(heightOf(signature, services) + 1);
    return view === undefined ? NO_CHILD : block(view, services);
  },
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
  headerAt,
  headerLast,
  headersSeq,
};
