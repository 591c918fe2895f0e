/**
 * The cost of one request, one connection, one peer. Every declared route and every declared
 * message between nodes gets the costliest input that its budget allows, and one step more, over
 * one connection or stream and over many. Connections misbehave, and so do a member of a policy and
 * a time server. An honest client in a separate process reports how long the node kept it waiting.
 *
 * The short form asserts answers, liveness and memory. COST=full (npm run test:cost) prints a table
 * with a verdict on each row: at most 100 ms and 64 MiB, and no round of the miner
 * without a block, on a quiet machine.
 */
import t from 'tap';
import { eventually } from '../e2e/process.ts';
import { type Attack, MISSED } from './attack.ts';
import { connectionAttacks } from './connections.ts';
import { peerAttacks } from './peers.ts';
import { pooledAttack } from './pooled.ts';
import { itemAttack, quotaAttack } from './private-items.ts';
import { routeAttacks } from './routes.ts';
import { namedRows } from './rows.ts';
import { scriptedAttack } from './scripted.ts';
import { type Size, startTarget, type Target } from './target.ts';

const IS_FULL = process.env['COST'] === 'full';
const SHARE = IS_FULL ? 1 : 0.1;
const AT_ONCE = IS_FULL ? 64 : 2;
const MIB = 1024 * 1024;
const SIZE: Size = IS_FULL
  ? { megabytes: 24, assets: 400, transfers: 3000, itemBytes: 20 * MIB }
  : { megabytes: 1, assets: 400, transfers: 100, itemBytes: MIB };
/** Of each message between nodes. */
const STREAMS = IS_FULL ? [1, 64] : [4];
const FLOOD_MS = IS_FULL ? 2_000 : 70;
const STALL_MAX_MS = 100;
const RISE_MAX_MIB = 64;
/** What the allocator keeps, too: on a busy machine it gives back late. */
const SETTLED_MAX_MIB = IS_FULL ? 2 * RISE_MAX_MIB : Number.POSITIVE_INFINITY;

const HEAD = '| Attack | Longest answer, ms | Rise, MiB | Rounds missed | Answers | Verdict |';

t.setTimeout(IS_FULL ? 3_600_000 : 240_000);

const attacksOn = (target: Target): Attack[] => [
  ...namedRows(IS_FULL),
  itemAttack('conversation', IS_FULL ? 16 : 4, IS_FULL ? 5_000 : 150),
  itemAttack('abandoned', IS_FULL ? 16 : 4, IS_FULL ? 5_000 : 150),
  quotaAttack,
  pooledAttack(IS_FULL ? 16 : 4, FLOOD_MS),
  scriptedAttack(IS_FULL ? 200 : 20),
  ...connectionAttacks(SHARE),
  ...peerAttacks(STREAMS, FLOOD_MS),
  ...routeAttacks(target, AT_ONCE, IS_FULL),
];

t.test('no request, no connection and no peer costs others anything', async (t) => {
  const target = await startTarget(t, SIZE);
  const before = target.residentMib();
  const inUseBefore = await target.inUseMib();
  const height = await target.rest.height();
  await target.seen();
  let peak = before;
  if (IS_FULL) t.comment(`${HEAD}\n|---|---:|---:|---:|---|---|`);
  for (const attack of attacksOn(target)) {
    const start = target.residentMib();
    const skipped = await target.skippedRounds();
    const answers = await attack.send(target);
    const { longestMs, served, failed } = await target.seen();
    const now = target.residentMib();
    const missed = (await target.skippedRounds()) - skipped;
    peak = Math.max(peak, now);
    const rise = Math.round(now - start);
    const isWithin =
      longestMs <= STALL_MAX_MS && rise <= RISE_MAX_MIB && missed === 0 && failed === 0;
    const verdict = isWithin && !answers.startsWith(MISSED) ? 'reached' : 'missed';
    const cells = [attack.name, Math.round(longestMs), rise, missed, answers, verdict];
    if (IS_FULL) t.comment(`| ${cells.join(' | ')} |`);
    t.notMatch(answers, /(^|, )50[0-2]( ×|,|$)/, `${attack.name}: ${answers}`);
    t.notOk(answers.startsWith(MISSED), `${attack.name}: ${answers}`);
    t.equal(failed, 0, `the good client was served ${served} times during ${attack.name}`);
  }
  t.comment(`memory ${Math.round(before)} MiB, at most ${Math.round(peak)} MiB`);
  t.equal((await target.rest.get('/health/live')).status, 200);
  await eventually('the next block', async () =>
    (await target.rest.height()) > height + 3 ? true : undefined,
  );
  await eventually('memory comes back', async () => {
    const inUse = (await target.inUseMib()) - inUseBefore;
    const isSettled = target.residentMib() - before < SETTLED_MAX_MIB;
    return (inUse < RISE_MAX_MIB && isSettled) || undefined;
  });
});
