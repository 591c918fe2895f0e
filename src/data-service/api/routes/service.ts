/** The service itself: health and status. */

import { timeLimit } from '../../../base/deadline.ts';
import { ApiError } from '../../../base/errors.ts';
import { answer } from '../../../rest-framework/answer.ts';
import { Int32, Int64 } from '../../../rest-framework/body.ts';
import { Type } from '../../../rest-framework/type.ts';
import { rows, type StoreTip, tipOf } from '../reading.ts';
import { type DataServices, routesIn } from '../services.ts';

const route = routesIn('service');
const healthRoute = routesIn('health');

const live = healthRoute({
  method: 'GET',
  path: '/health/live',
  access: 'public',
  doc: 'Whether the service runs.',
  reply: Type.Object({ status: Type.String() }),
  handle: () => ({ status: 'live' }),
});

const Ready = Type.Object({
  status: Type.String(),
  reasons: Type.Array(Type.Object({ code: Type.String(), message: Type.String() })),
  height: Type.Union([Int32, Type.Null()]),
  lagBlocks: Type.Union([Int32, Type.Null()]),
});

/** A load balancer waits for a few seconds, and needs an answer to turn to another server. */
const STORE_WAIT_MS = 2000;

const ready = healthRoute({
  method: 'GET',
  path: '/health/ready',
  access: 'public',
  doc: 'Whether the service answers from data that are up to date; 503 with the reasons otherwise. A node that does not answer, and a crawler that has ended, are reasons that leave the status 200 where there are blocks.',
  cost: { streamed: true },
  reply: Ready,
  unavailable: Ready,
  async handle(_request, services) {
    const reasons: { code: string; message: string }[] = [];
    const [tip, nodeHeight] = await Promise.all([tipInTime(services), services.nodeHeight()]);
    // Of a store that does not answer nobody knows the height.
    const height = typeof tip === 'string' ? null : tip.height;
    const lagBlocks = height === null ? null : Math.max(0, (nodeHeight ?? height) - height);
    if (typeof tip === 'string') reasons.push({ code: 'store', message: tip });
    // While the node is away its height does not tell that a server has nothing at all.
    else if (height === 0) reasons.push({ code: 'empty', message: 'no block has been stored yet' });
    if (nodeHeight === undefined)
      reasons.push({ code: 'node', message: 'the node does not answer' });
    if (lagBlocks !== null && lagBlocks > services.maxLag) {
      reasons.push({ code: 'lag', message: `${lagBlocks} blocks behind the node` });
    }
    const stopped = services.crawl?.stopped;
    if (stopped !== undefined) reasons.push({ code: 'crawler', message: stopped });
    // All servers have the same node and the same rows, and none answers worse than another.
    const isReady = reasons.every(({ code }) => code === 'node' || code === 'crawler');
    const status = isReady ? 'ready' : 'not ready';
    return answer(isReady ? 200 : 503, { status, reasons, height, lagBlocks });
  },
});

/** The tip of the store, or why nobody knows it. */
async function tipInTime(services: DataServices): Promise<StoreTip | string> {
  const { late, cancel } = timeLimit(services.clock, STORE_WAIT_MS);
  const asked = tipOf({ ...services, db: services.healthDb, strictLag: false });
  try {
    const tip = await Promise.race([asked, late]);
    return tip === 'late' ? `The database has not answered for ${STORE_WAIT_MS / 1000} s` : tip;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.message;
  } finally {
    cancel();
  }
}

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
  doc: 'How far the data are, and what went wrong last.',
  cost: { streamed: true },
  reply: Status,
  async handle(_request, services) {
    const tip = await tipOf({ ...services, strictLag: false });
    const nodeHeight = (await services.nodeHeight()) ?? null;
    const [reorg] = await rows<{ at: string; from_height: number; to_height: number }>(
      services,
      'SELECT at, from_height, to_height FROM reorgs ORDER BY at DESC LIMIT 1',
    );
    const meta = await rows<{ key: string; value: string }>(
      services,
      `SELECT key, value FROM meta WHERE key IN ('schema_version', 'bulk')`,
    );
    const kept = new Map(meta.map(({ key, value }) => [key, value]));
    const lagBlocks = Math.max(0, (nodeHeight ?? tip.height) - tip.height);
    return {
      height: tip.height,
      nodeHeight,
      lagBlocks,
      lagSeconds: lagBlocks === 0 ? 0 : secondsSince(tip, services),
      lastBlockTimestamp: tip.ts,
      schemaVersion: Number(kept.get('schema_version') ?? 0),
      bulk: kept.get('bulk') === '1',
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

export const service = { live, ready, status };
