/** The service itself: health, status, and the numbers behind the charts. */

import { answer } from '../../../api/answer.ts';
import { Int32, Int64 } from '../../../api/body.ts';
import { Type } from '../../../api/type.ts';
import { ApiError } from '../../../base/errors.ts';
import { readMeta } from '../../schema/migrate.ts';
import * as params from '../query-params.ts';
import { requireIndexes, rows, type StoreTip, tipOf } from '../reading.ts';
import { type DataServices, route } from '../services.ts';

const group = 'service';

const live = route({
  method: 'GET',
  path: '/health/live',
  access: 'public',
  group: 'health',
  doc: 'Whether the service runs.',
  reply: Type.Object({ status: Type.String() }),
  handle: () => ({ status: 'live' }),
});

const Ready = Type.Object({
  status: Type.String(),
  reasons: Type.Array(Type.Object({ code: Type.String(), message: Type.String() })),
  height: Int32,
  lagBlocks: Int32,
});

const ready = route({
  method: 'GET',
  path: '/health/ready',
  access: 'public',
  group: 'health',
  doc: 'Whether the service answers from data that are up to date; 503 with the reasons otherwise.',
  cost: { inTurns: true },
  reply: Ready,
  unavailable: Ready,
  async handle(_request, services) {
    const reasons: { code: string; message: string }[] = [];
    let height = 0;
    try {
      ({ height } = await tipOf({ ...services, strictLag: false }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      reasons.push({ code: 'store', message: error.message });
    }
    const nodeHeight = await services.nodeHeight();
    const lagBlocks = Math.max(0, (nodeHeight ?? height) - height);
    if (nodeHeight === undefined)
      reasons.push({ code: 'node', message: 'the node does not answer' });
    if (lagBlocks > services.maxLag) {
      reasons.push({ code: 'lag', message: `${lagBlocks} blocks behind the node` });
    }
    const isReady = reasons.length === 0;
    const status = isReady ? 'ready' : 'not ready';
    return answer(isReady ? 200 : 503, { status, reasons, height, lagBlocks });
  },
});

const Status = Type.Object({
  height: Int32,
  nodeHeight: Type.Union([Int32, Type.Null()]),
  lagBlocks: Int32,
  lagSeconds: Int64,
  lastBlockTimestamp: Int64,
  schemaVersion: Int32,
  bulk: Type.Boolean(),
  lastReorg: Type.Union([
    Type.Object({ at: Int64, fromHeight: Int32, toHeight: Int32 }),
    Type.Null(),
  ]),
  lastError: Type.Union([Type.String(), Type.Null()]),
  version: Type.String(),
});

const status = route({
  method: 'GET',
  path: '/status',
  access: 'apiKey',
  group,
  doc: 'How far the data are, and what went wrong last.',
  cost: { inTurns: true },
  reply: Status,
  async handle(_request, services) {
    const tip = await tipOf({ ...services, strictLag: false });
    const nodeHeight = (await services.nodeHeight()) ?? null;
    const db = services.db()!;
    const [reorg] = await rows<{ at: string; from_height: number; to_height: number }>(
      services,
      'SELECT at, from_height, to_height FROM reorgs ORDER BY at DESC LIMIT 1',
    );
    const lagBlocks = Math.max(0, (nodeHeight ?? tip.height) - tip.height);
    return {
      height: tip.height,
      nodeHeight,
      lagBlocks,
      lagSeconds: lagBlocks === 0 ? 0 : secondsSince(tip, services),
      lastBlockTimestamp: tip.ts,
      schemaVersion: Number((await readMeta(db, 'schema_version')) ?? 0),
      bulk: (await readMeta(db, 'bulk')) === '1',
      lastReorg:
        reorg === undefined
          ? null
          : { at: Number(reorg.at), fromHeight: reorg.from_height, toHeight: reorg.to_height },
      lastError: services.crawl?.lastError ?? null,
      version: services.version,
    };
  },
});

const secondsSince = (tip: StoreTip, { clock }: DataServices): number =>
  Math.max(0, Math.round((clock.now() - tip.ts) / 1000));

const Point = Type.Object({
  from: Type.Integer({ description: 'Height of the first block of this point.' }),
  to: Int32,
  timestamp: Int64,
  blocks: Int32,
  transactions: Int64,
  fees: Int64,
  bytes: Int64,
  skipped: Type.Integer({ description: 'Rounds without a block, under proof of authority.' }),
});

const Stats = Type.Object({
  points: Type.Array(Point),
  types: Type.Array(Type.Object({ type: Int32, count: Int64 })),
  miners: Type.Array(Type.Object({ address: Type.String(), blocks: Int32 })),
  users: Int64,
  assets: Int64,
});

/** All rounds skipped up to a block. */
const SKIPPED = `(consensus->'poa-consensus'->>'overall-skipped-rounds')::bigint`;
const POINTS = 60;
const BLOCKS_MAX = 20_000;
const MINERS_MAX = 20;

const stats = route({
  method: 'GET',
  path: '/stats',
  access: 'apiKey',
  group,
  doc: 'Blocks, transactions and fees over the last blocks, shares of types, blocks of each miner.',
  query: {
    blocks: {
      doc: `How many of the last blocks; default 1000, at most ${BLOCKS_MAX}.`,
      schema: { type: 'integer', minimum: 1, maximum: BLOCKS_MAX },
      optional: true,
      otherwise: 1000,
      parse: (text: string) => params.wholeBetween(text, 1, BLOCKS_MAX),
    },
  },
  cost: { inTurns: true },
  reply: Stats,
  async handle({ query: { blocks } }, services) {
    await requireIndexes(services);
    const tip = await tipOf(services);
    const first = Math.max(1, tip.height - blocks + 1);
    const width = Math.max(1, Math.ceil((tip.height - first + 1) / POINTS));
    const [points, types, miners, counts] = await Promise.all([
      rows<Record<'from' | 'to' | 'ts' | 'blocks' | 'txs' | 'fees' | 'bytes' | 'skipped', string>>(
        services,
        `SELECT min(height) AS "from", max(height) AS "to", max(ts) AS ts, count(*) AS blocks,
           sum(tx_count) AS txs, sum(fee) AS fees, sum(blocksize) AS bytes,
           coalesce(max(${SKIPPED}) - min(${SKIPPED}), 0) AS skipped
         FROM blocks WHERE height >= $1 GROUP BY (height - $1) / $2 ORDER BY 1`,
        [first, width],
      ),
      rows<{ type: number; n: string }>(
        services,
        'SELECT type, n FROM type_counts ORDER BY n DESC',
      ),
      rows<{ generator: string; blocks: string }>(
        services,
        `SELECT generator, count(*) AS blocks FROM blocks WHERE height >= $1
         GROUP BY generator ORDER BY 2 DESC, 1 LIMIT ${MINERS_MAX}`,
        [first],
      ),
      rows<{ users: string; assets: string }>(
        services,
        `SELECT (SELECT coalesce(max(ordinal), 0) FROM users) AS users,
           (SELECT count(*) FROM assets) AS assets`,
      ),
    ]);
    return {
      points: points.map((point) => ({
        from: Number(point.from),
        to: Number(point.to),
        timestamp: Number(point.ts),
        blocks: Number(point.blocks),
        transactions: Number(point.txs),
        fees: BigInt(point.fees),
        bytes: Number(point.bytes),
        skipped: Number(point.skipped),
      })),
      types: types.map(({ type, n }) => ({ type, count: Number(n) })),
      miners: miners.map(({ generator, blocks: made }) => ({
        address: generator,
        blocks: Number(made),
      })),
      users: Number(counts[0]?.users ?? 0),
      assets: Number(counts[0]?.assets ?? 0),
    };
  },
});

export const service = { live, ready, status, stats };
