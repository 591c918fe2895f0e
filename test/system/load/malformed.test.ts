/**
 * Row R7 of the goals: the effect on an honest client while others send malformed requests, as many
 * as the node answers, and any bytes to the port for peers. The long form prints how much slower
 * its slowest answers become; MALFORMED_SECONDS sets the duration of each part.
 */
import fc from 'fast-check';
import t from 'tap';
import { type LoadResult, startHttpLoad } from '../../../bench/load/http.ts';
import { batch, get } from '../../../bench/load/requests.ts';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { Rng } from '../../generators/random.ts';
import { mutated, nearlyRight } from '../../rest/fixtures/fuzz-requests.ts';
import { runAfter, runFirst } from './client-priority.ts';
import { loadedNode, roundsMissed, verdict } from './loaded-node.ts';
import { madPeers } from './mad-peers.ts';
import { answersWith } from './paced.ts';

const SECONDS = Number(process.env['MALFORMED_SECONDS'] ?? 2);
const REQUESTS = 20_000;
const SHORT_REQUESTS = 2_000;
const SEED = 7;
const BAD_CLIENTS = 16;
const MAD_PEERS = 16;
const GOOD_CLIENTS = 4;
const PAUSE_MS = 10;
const GOOD_TRANSFERS = 20;
const TIMES_SLOWER = 3;

t.setTimeout(180_000 + SECONDS * 4_000);

/** Whole requests; the HTTP around them is sound, since anything else ends its own connection. */
function malformed(count: number, address: string): Buffer[] {
  const rng = new Rng(SEED);
  const { request } = nearlyRight(address, ['x']);
  // Its answer would go on for ever.
  const ended = request.filter(({ path }) => path !== '/events');
  return fc.sample(ended, { numRuns: count, seed: SEED }).map((one) => {
    const target = encodeURI(mutated(one.path + one.query, rng)).replace(/^\/*/, '/');
    const body = Buffer.from(mutated(one.body, rng), 'latin1');
    const head = `${one.method} ${target} HTTP/1.1\r\nHost: h\r\nX-API-Key: x\r\n`;
    return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]);
  });
}

t.test(`a good client among malformed requests and peers for ${SECONDS} s`, async (t) => {
  const [peerPort] = (await freePorts(1)) as [number];
  const at = await loadedNode(t, [`network.port=${peerPort}`]);
  const good = startHttpLoad();
  const bad = startHttpLoad();
  t.teardown(() => Promise.all([good.stop(), bad.stop()]));
  runFirst(good.pid);
  runAfter(bad.pid);
  const ms = SECONDS * 1000;
  const ports = [at.node.port];
  const client = async () =>
    Promise.all([
      good.run({
        ports,
        connections: GOOD_CLIENTS,
        durationMs: ms,
        once: false,
        pauseMs: PAUSE_MS,
        requests: batch(at.paths.map(get)),
      }),
      at.postBeside({ connections: GOOD_CLIENTS, perSecond: GOOD_TRANSFERS, ms }),
    ]);
  await client();
  const [quietReads, quietPosts] = await client();
  const from = await at.height();
  const [address] = (await at.node.get('/addresses')) as [string];
  const requests = batch(malformed(SECONDS > 10 ? REQUESTS : SHORT_REQUESTS, address));
  const attack = Promise.all([
    bad.run({ ports, connections: BAD_CLIENTS, durationMs: ms, once: false, requests }),
    madPeers(t, { port: peerPort, connections: MAD_PEERS, ms, seed: SEED }),
  ]);
  const [reads, posts] = await client();
  const [answers, frames]: [LoadResult, number] = await attack;
  const missed = roundsMissed(await at.headers(from + 1, await at.height()));

  t.comment(
    `${answers.answers} requests and ${frames} frames in ${SECONDS} s; ${missed} rounds missed`,
  );
  const slower = (what: string, quiet: number, loud: number): void =>
    t.comment(
      `${what} p99 ${quiet.toFixed(2)} ms, then ${loud.toFixed(2)} ms: ` +
        verdict(loud <= TIMES_SLOWER * quiet),
    );
  slower('GET', quietReads.p99Ms, reads.p99Ms);
  const p99 = (of: typeof posts): number => answersWith(of, 200)?.p99Ms ?? Number.NaN;
  slower('POST', p99(quietPosts), p99(posts));

  t.ok(answers.answers > 0 && frames > 0, 'there was an attack');
  t.equal(answers.lost, 0, 'every malformed request has an answer');
  t.equal(reads.refused + reads.lost, 0, 'the good client reads');
  t.strictSame(
    posts.answers.map(({ status }) => status),
    [200],
    'and sends',
  );
  t.match(await at.node.get('/node/status'), { blockchainHeight: Number });
});
