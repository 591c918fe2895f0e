/** Blocks. */

import { apiError } from '../../../base/errors.ts';
import { stringify } from '../../../base/json/json.ts';
import { type Answer, notFound } from '../../../rest-framework/answer.ts';
import { Type } from '../../../rest-framework/type.ts';
import { ofOneBranch } from '../one-branch.ts';
import { type Cut, shownOf } from '../page-cut.ts';
import { printedRows } from '../printed-rows.ts';
import * as params from '../query-params.ts';
import { asked, blockAnswer, KEPT, pageAnswer, rows, type StoreTip } from '../reading.ts';
import { type DataServices, routesIn } from '../services.ts';
import {
  BLOCK_COLUMNS,
  Block,
  type BlockRow,
  BlockSummary,
  blockOf,
  SUMMARY_COLUMNS,
  summaryOf,
  type TxRow,
} from '../shapes.ts';

const route = routesIn('blocks');
const HEIGHT_MAX = 2_147_483_647;
/** The summary of one has about half a kilobyte. */
const BLOCK_TXS_MAX = 20_000;

const at = route({
  method: 'GET',
  path: '/blocks/{height}',
  access: 'apiKey',
  doc: 'One block with all its transactions.',
  params: {
    height: {
      doc: 'Height of the block; the genesis block has 1.',
      schema: { type: 'integer', format: 'int32', minimum: 1 },
      parse: params.height,
    },
  },
  cost: { streamed: true },
  reply: Block,
  handle: ({ params: { height } }, services) =>
    ofOneBranch(services, (tip) => blockAt(height, tip, services)),
});

async function blockAt(height: number, tip: StoreTip, services: DataServices): Promise<Answer> {
  const sql = `SELECT ${BLOCK_COLUMNS} FROM blocks WHERE height = $1`;
  const [block] = height > HEIGHT_MAX ? [] : await rows<BlockRow>(services, sql, [height]);
  if (block === undefined) return notFound('Block is not in blockchain');
  if (block.tx_count > BLOCK_TXS_MAX) {
    const text = `it has ${block.tx_count} transactions: list them with heightFrom and heightTo`;
    throw apiError('AnswerTooBig', text);
  }
  const first = Number(block.first_seq);
  const transactions = await rows<TxRow>(
    services,
    `SELECT ${SUMMARY_COLUMNS} FROM txs t WHERE t.seq BETWEEN $1 AND $2 ORDER BY t.seq`,
    [first, first + block.tx_count - 1],
  );
  const list = await printedRows(transactions, summaryOf, services.clock);
  const head = stringify(blockOf(block)).slice(0, -1);
  const json = Buffer.concat([Buffer.from(`${head},"transactions":`), list, Buffer.from('}')]);
  return blockAnswer(json, height, tip);
}

const list = route({
  method: 'GET',
  path: '/blocks',
  access: 'apiKey',
  doc: 'Blocks without their transactions; `index` is a height.',
  query: { index: params.index, limit: params.limit, sort: params.sort },
  keep: KEPT,
  cost: { streamed: true },
  reply: Type.Array(BlockSummary),
  async handle({ query: { index, limit, sort }, http }, services) {
    const from = asked(http);
    return ofOneBranch(services, async (tip) => {
      const bound = Math.min(index ?? (sort === 'desc' ? tip.height : 1), HEIGHT_MAX);
      const found = await rows<BlockRow & Cut>(
        services,
        `SELECT ${BLOCK_COLUMNS} FROM blocks WHERE height ${sort === 'desc' ? '<=' : '>='} $1
       ORDER BY height ${sort} LIMIT ${limit + 1}`,
        [bound],
      );
      const { shown, following } = shownOf(found, limit);
      const page = { first: shown[0]?.height, next: following?.height, total: tip.height };
      return pageAnswer({ rows: shown, shape: blockOf }, from, tip, page, services);
    });
  },
});

export const blocks = { at, list };
