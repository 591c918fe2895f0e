/**
 * Row R11 of the goals: half of the node's maximum load for a long time. Neither its memory nor the
 * number of its descriptors grows, and its event loop stays responsive. SOAK_SECONDS sets the
 * duration; the short form shows that the program works and that descriptors are released.
 */
import t from 'tap';
import { startHttpLoad } from '../../../bench/load/http.ts';
import { batch, get } from '../../../bench/load/requests.ts';
import { loadedNode, roundsMissed, verdict } from './loaded-node.ts';
import { answersWith, countOf } from './paced.ts';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 5);
const MAXIMUM_SECONDS = Math.min(20, Math.max(2, SECONDS / 10));
const SHARE = Number(process.env['SOAK_SHARE'] ?? 0.5);
const SAMPLE_MS = Math.min(10_000, (SECONDS * 1000) / 8);
/** Of the time; caches fill and code is compiled. */
const WARM_UP = 1 / 3;
const CONNECTIONS = 64;
const READERS = 4;
const READ_PAUSE_MS = 50;
const SLOPE_MB_A_MINUTE = 1;
const LOOP_MS = 50;

t.setTimeout(240_000 + SECONDS * 3_000);

interface Sample {
  readonly minutes: number;
  readonly rssMb: number;
  readonly mappedMb: number;
  readonly loopMs: number;
  readonly descriptors: number;
}

t.test(`half of the maximum for ${SECONDS} s`, async (t) => {
  const at = await loadedNode(t);
  const { node } = at;
  const maximum = await at.maximum(MAXIMUM_SECONDS * 1000);
  const perSecond = SHARE * maximum;
  t.comment(`${Math.round(maximum)} transfers a second at most, ${Math.round(perSecond)} sent`);
  const descriptors = at.descriptors();
  await at.loopDelayMs();

  const reader = startHttpLoad();
  t.teardown(() => reader.stop());
  const from = await at.height();
  const ms = SECONDS * 1000;
  const load = Promise.all([
    at.post({ connections: CONNECTIONS, perSecond, ms }),
    reader.run({
      ports: [node.port],
      connections: READERS,
      durationMs: ms,
      once: false,
      pauseMs: READ_PAUSE_MS,
      requests: batch(at.paths.map(get)),
    }),
  ]);
  const samples: Sample[] = [];
  const start = performance.now();
  for (let i = 1; i * SAMPLE_MS <= ms; i++) {
    const wait = start + i * SAMPLE_MS - performance.now();
    await new Promise((resolve) => setTimeout(resolve, wait));
    samples.push({
      minutes: (performance.now() - start) / 60_000,
      ...node.memory(),
      loopMs: await at.loopDelayMs(),
      descriptors: at.descriptors(),
    });
  }
  const [result, reads] = await load;
  const to = await at.height();
  await at.drained();

  const warm = samples.slice(Math.floor(samples.length * WARM_UP));
  const slope = slopeOf(warm.map(({ minutes, rssMb }) => [minutes, rssMb]));
  // The store is a mapped file, which grows with the chain.
  const own = slopeOf(warm.map(({ minutes, rssMb, mappedMb }) => [minutes, rssMb - mappedMb]));
  const loops = warm.map(({ loopMs }) => loopMs).sort((a, b) => a - b);
  const slowest = loops.at(-1) ?? 0;
  const missed = roundsMissed(await at.headers(from + 1, to));
  const growth = Math.max(...warm.map((one) => one.descriptors)) - (warm[0]?.descriptors ?? 0);
  const accepted = answersWith(result, 200);
  t.comment(`${accepted?.count} accepted, p50 ${accepted?.p50Ms} ms, p99 ${accepted?.p99Ms} ms`);
  t.comment(`GET p99 ${reads.p99Ms.toFixed(1)} ms; ${missed} rounds without a block`);
  t.comment(samples.map(({ rssMb }) => rssMb.toFixed(0)).join(' '), 'MB');
  t.comment(samples.map(({ mappedMb }) => mappedMb.toFixed(0)).join(' '), 'MB of mapped files');
  t.comment(`RSS ${slope.toFixed(2)} MB a minute: ${verdict(slope <= SLOPE_MB_A_MINUTE)}`);
  t.comment(
    `without mapped files ${own.toFixed(2)} MB a minute: ${verdict(own <= SLOPE_MB_A_MINUTE)}`,
  );
  t.comment(
    `event-loop delay, p99 of each ${SAMPLE_MS / 1000} s: at most ${slowest.toFixed(1)} ms, ` +
      `median ${loops[loops.length >> 1]?.toFixed(1)} ms: ${verdict(slowest <= LOOP_MS)}`,
  );
  t.comment(`${growth} more descriptors than after the warm-up: ${verdict(growth <= 0)}`);

  t.ok(countOf(result, 200) > 0, 'there was load');
  t.equal(result.lost, 0, 'every request has an answer');
  t.strictSame(
    result.answers.map(({ status }) => status),
    [200],
    'half of the maximum is refused nowhere',
  );
  t.equal(reads.refused + reads.lost, 0, 'no read was refused');
  const mined = await at.headers(from + 1, await at.height());
  const count = mined.reduce((sum, { transactionCount }) => sum + transactionCount, 0);
  t.equal(count, countOf(result, 200), 'all that was accepted is in blocks');
  t.ok(at.descriptors() <= descriptors + CONNECTIONS + READERS, 'no descriptor is left behind');
});

/** Of the line through these points with the least squares. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const count = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  let above = 0;
  let below = 0;
  for (const [x, y] of points) {
    above += (x - meanX) * (y - meanY);
    below += (x - meanX) ** 2;
  }
  return below === 0 ? 0 : above / below;
}
