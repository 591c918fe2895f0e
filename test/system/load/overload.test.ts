/**
 * Row R12 of the goals: four times as many transfers as the node can process. The excess is refused
 * at once with an error for overload, acknowledged transfers get into blocks, reads are answered,
 * and every round has its block. The long form prints the figures; OVERLOAD_SECONDS sets the
 * duration.
 */
import t from 'tap';
import { get } from '../../../bench/load/requests.ts';
import { runFirst } from './client-priority.ts';
import { loadedNode, minedPerSecond, roundsMissed, verdict } from './loaded-node.ts';
import { answersWith, compiledSender, countOf, type Sent, sendPaced } from './paced.ts';

const SECONDS = Number(process.env['OVERLOAD_SECONDS'] ?? 3);
const MAXIMUM_SECONDS = Math.min(20, Math.max(2, SECONDS / 3));
const TIMES = 4;
/** More than the node has under way at a time. */
const CONNECTIONS = 1024;
/** Refusals are timed by a client of its own, since the load itself is late with most things. */
const PROBE_CONNECTIONS = 64;
const PROBES_PER_SECOND = 200;
/** Many enough that one is idle when the next read is due. */
const READERS = 32;
const READS_PER_SECOND = 300;
/** Sees each answer when it comes. */
const EACH = 0;
const REFUSAL_MS = 10;
const READ_MS = 100;
/** Descriptors of threads that start meanwhile, and of the test's own requests. */
const OWN = 8;
const GOODPUT = 0.8;

t.setTimeout(180_000 + SECONDS * 5_000);

t.test(`four times the maximum for ${SECONDS} s`, async (t) => {
  const at = await loadedNode(t);
  const { node } = at;
  const maximum = await at.maximum(MAXIMUM_SECONDS * 1000);
  t.comment(`${Math.round(maximum)} transfers a second get into blocks at most`);
  const descriptors = at.descriptors();

  const program = compiledSender(t);
  // What is accepted, what waits to be sent again, and what is under way.
  await at.sign(Math.ceil(maximum * (SECONDS + 1)) + 2 * CONNECTIONS);
  const from = await at.height();
  await at.loopDelayMs();
  const ms = SECONDS * 1000;
  const [result, probes, reads] = await Promise.all([
    at.post({ connections: CONNECTIONS, perSecond: TIMES * maximum, ms }),
    at.postBeside({ connections: PROBE_CONNECTIONS, perSecond: PROBES_PER_SECOND, ms }),
    sendPaced(
      program,
      {
        port: node.port,
        connections: READERS,
        perSecond: READS_PER_SECOND,
        ms,
        tickMicros: EACH,
      },
      again(at.paths.map(get)),
      (child) => {
        t.teardown(() => void child.kill());
        runFirst(child.pid!);
      },
    ),
  ]);
  const to = await at.height();
  const waiting = await at.poolSize();
  const loopMs = await at.loopDelayMs();
  await at.drained();

  const blocks = await at.headers(from + 1, to);
  const goodput = minedPerSecond(blocks) / maximum;
  const missed = roundsMissed(blocks);
  const accepted = countOf(result, 200) + countOf(probes, 200);
  const refused = answersWith(probes, 503);
  const answered = [...named('load', result), ...named('probe', probes)];
  const readP99 = answersWith(reads, 200)?.p99Ms ?? Number.POSITIVE_INFINITY;
  for (const { of, status, count, p50Ms, p99Ms, maxMs } of answered) {
    const slow = `p50 ${p50Ms}, p99 ${p99Ms}, longest ${Math.round(maxMs)} ms`;
    t.comment(`${of}: ${count} × ${status}, ${slow}`);
  }
  const late = [result, probes, reads].map((sent) => sent.late).join(', ');
  t.comment(`${late} not sent in time by load, probe and readers; ${waiting} waited at the end`);
  const own = [result, probes, reads].map(({ ownDelayMs }) => ownDelayMs.toFixed(1)).join(', ');
  t.comment(`timers late, p99: of the node ${loopMs.toFixed(1)} ms, of those three ${own} ms`);
  t.comment(
    `excess refused, p99 ${refused?.p99Ms} ms: ${verdict((refused?.p99Ms ?? Number.POSITIVE_INFINITY) <= REFUSAL_MS)}`,
  );
  t.comment(`goodput ${goodput.toFixed(2)} of the maximum: ${verdict(goodput >= GOODPUT)}`);
  t.comment(`GET p99 ${readP99} ms: ${verdict(readP99 <= READ_MS)}`);
  t.comment(`${missed} of ${blocks.length} rounds without a block: ${verdict(missed === 0)}`);

  t.ok(accepted > 0, 'some were accepted');
  t.equal(result.lost + probes.lost, 0, 'every request has an answer');
  for (const { status, sample } of answered) {
    if (status !== 200) t.match(sample, OVERLOAD, `a documented refusal: ${status}`);
  }
  const others = reads.answers.filter(({ status }) => status !== 200);
  t.strictSame([others, reads.lost], [[], 0], 'no read was refused');
  t.ok(countOf(reads, 200) > 0, 'and some were answered');
  const mined = await at.headers(from + 1, await at.height());
  const count = mined.reduce((sum, { transactionCount }) => sum + transactionCount, 0);
  t.equal(count, accepted, 'all that was accepted is in blocks');
  t.ok(at.descriptors() <= descriptors + OWN, 'connections that ended leave nothing behind');
});

const named = (of: string, { answers }: Sent) => answers.map((one) => ({ ...one, of }));

/** Both say when to come back. */
const OVERLOAD = /^HTTP\/1.1 503[\s\S]*retry-after: 1[\s\S]*"error":503/i;

function* again(requests: readonly Uint8Array[]): Generator<Uint8Array> {
  for (;;) yield* requests;
}
