/**
 * No question is too dear. Every filter of every endpoint, and every pair of filters, is asked on
 * made rows, while another client asks whether the service is ready. Each has an answer, and none
 * takes more than 100 ms of the event loop or 64 MiB. A refusal of what was asked is an answer, and a
 * statement that takes longer than `statement-timeout` is none.
 *
 * The limits are asserted, so they have to hold on a machine that does other work too: what counts
 * is the time that the main thread worked, and the least of a few attempts, a second apart. PGlite has
 * its memory in the same process, so its loop alone is judged. `npm run test:questions` asks on a
 * million transactions; QUESTIONS_PART=2/5 asks the second fifth alone, and QUESTIONS_FOLDER keeps the
 * stores for the next part.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { SUPERUSER } from '../../../../bench/denominators/postgres-server.ts';
import { memoryOf } from '../../../../bench/measure/memory.ts';
import { migratedFolder } from '../../../data-service/initial-cluster.ts';
import { madeChain } from '../../../data-service/made-chain.ts';
import { madeNode } from '../../../data-service/made-node.ts';
import { TXS_PER_BLOCK } from '../../../data-service/made-rows.ts';
import { postgresCluster } from '../../../data-service/stores.ts';
import { temporaryFolder } from '../../e2e/dev-node.ts';
import { madeQuestions, type Question } from './made-questions.ts';
import type { AskedServer } from './question-server.ts';

const TXS = Number(process.env['QUESTIONS_TXS'] ?? 20_000);
const IS_FULL = TXS >= 1_000_000;
const STORES = (process.env['QUESTIONS_STORES'] ?? 'PostgreSQL,PGlite').split(',');
const [PART = 1, PARTS = 1] = (process.env['QUESTIONS_PART'] ?? '1/1').split('/').map(Number);
/** In the short form PGlite, which has one connection, is asked one of so many. */
const SHORT_PARTS = 7;
/** Of the stores, where they are kept. */
const FOLDER = process.env['QUESTIONS_FOLDER'];
const HELD_MAX_MS = 100;
const RISE_MAX_MIB = 64;
const ATTEMPTS = 3;
const REST_MS = 1000;
const SLOWEST = 40;
/** Of what was asked (data-service.md#shapes), and not of how long it took. */
const REFUSALS = [400, 404, 413];
const FILE = new URL('./question-server.ts', import.meta.url);

t.setTimeout(IS_FULL ? 10_800_000 : 240_000);

interface Measured {
  readonly question: Question;
  readonly status: number;
  readonly text: string;
  readonly ms: number;
  readonly heldMs: number;
  readonly riseMib: number;
  readonly isReady: boolean;
}

/** Milliseconds for which the main thread has had a processor. */
const workedMs = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

async function answerTo(url: string, { method, path, body, isStream }: Question) {
  const leaving = new AbortController();
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(isStream ? { 'last-event-id': '0' } : {}),
    },
    signal: leaving.signal,
    ...(body === undefined ? {} : { body }),
  });
  if (!isStream || answer.status !== 200) {
    return { status: answer.status, text: (await answer.text()).slice(0, 200) };
  }
  await answer.body!.getReader().read();
  leaving.abort();
  return { status: answer.status, text: '' };
}

async function measured(url: string, pid: number, question: Question): Promise<Measured> {
  // From here on the highest resident memory counts.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = memoryOf(pid).rssMb;
  const worked = workedMs(pid);
  const start = performance.now();
  const [answer, ready] = await Promise.all([
    answerTo(url, question),
    fetch(`${url}/health/ready`).then(async (response) => {
      await response.text();
      return response.status === 200;
    }),
  ]);
  const ms = performance.now() - start;
  return {
    ...answer,
    question,
    ms,
    heldMs: workedMs(pid) - worked,
    riseMib: memoryOf(pid).peakMb - before,
    isReady: ready,
  };
}

const nameOf = ({ path, body = '' }: Question): string => `${path} ${body}`.trim();

const isDear = ({ heldMs, riseMib }: Measured, judgesMemory: boolean): boolean =>
  heldMs > HELD_MAX_MS || (judgesMemory && riseMib > RISE_MAX_MIB);

async function asked(t: Test, where: string): Promise<void> {
  const chain = madeChain({ seed: 'questions', txsPerBlock: 1, accounts: 2 });
  const node = await madeNode(t, () => chain, {
    instead: (path) =>
      path === '/blocks/height'
        ? { status: 200, type: 'application/json', body: `{"height":${TXS / TXS_PER_BLOCK}}` }
        : undefined,
  });
  const child = fork(FILE, [String(TXS), node.url, where]);
  t.teardown(() => child.kill('SIGKILL'));
  const [answer] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (typeof answer !== 'object' || answer === null) throw new Error('the server has ended');
  const { url, made } = answer as AskedServer;
  const pid = child.pid!;
  const judgesMemory = where.startsWith('postgres:');
  const found: Measured[] = [];
  const problems: string[] = [];
  const parts = IS_FULL || judgesMemory ? PARTS : SHORT_PARTS;
  let turn = 0;
  for (const question of madeQuestions(made, IS_FULL)) {
    if (turn++ % parts !== PART - 1) continue;
    let least = await measured(url, pid, question);
    // A question that has ended the thread of PGlite is a problem of its own, and hides no other one.
    while (least.status === 429) {
      await sleep(REST_MS);
      least = await measured(url, pid, question);
    }
    for (let i = 1; i < ATTEMPTS && isDear(least, judgesMemory); i++) {
      // What else the process does, as collecting garbage, may take longer than an attempt.
      await sleep(REST_MS);
      const again = await measured(url, pid, question);
      if (!isDear(again, judgesMemory)) least = again;
    }
    found.push(least);
    const { status, text, heldMs, riseMib, isReady } = least;
    const name = nameOf(question);
    const cost = `${Math.round(heldMs)} ms, ${Math.round(riseMib)} MiB`;
    if (isDear(least, judgesMemory)) problems.push(`${name}: ${cost}`);
    if (status !== 200 && !REFUSALS.includes(status)) problems.push(`${name}: ${status} ${text}`);
    if (!isReady) problems.push(`${name}: the service is not ready meanwhile`);
  }
  const statuses = Map.groupBy(found, ({ status }) => status);
  t.comment(
    `${found.length} questions: ${[...statuses].map(([status, of]) => `${status} ×${of.length}`).join(', ')}`,
  );
  const slowest = found.toSorted((a, b) => b.ms - a.ms).slice(0, IS_FULL ? SLOWEST : 5);
  for (const { question, status, ms, heldMs, riseMib } of slowest) {
    const cost = [ms, heldMs].map((one) => `${Math.round(one)} ms`).join(', loop ');
    const name = nameOf(question).slice(0, 300);
    t.comment(`${status}, ${cost}, ${Math.round(riseMib)} MiB: ${name}`);
  }
  const greatest = (of: (one: Measured) => number): string => {
    const one = found.reduce((most, next) => (of(next) > of(most) ? next : most));
    return `${Math.round(of(one))} (${nameOf(one.question).slice(0, 300)})`;
  };
  t.comment(`greatest time of the event loop in ms: ${greatest(({ heldMs }) => heldMs)}`);
  t.comment(`greatest growth of memory in MiB: ${greatest(({ riseMib }) => riseMib)}`);
  t.comment(`greatest time of an answer in ms: ${greatest(({ ms }) => ms)}`);
  t.strictSame(problems, []);
}

const isLeftOut = (store: string): string | false =>
  !STORES.includes(store) && 'QUESTIONS_STORES leaves it out';
const kept = (store: string): string | undefined =>
  FOLDER === undefined ? undefined : join(FOLDER, `${store}-${TXS}`);

async function onPostgres(t: Test): Promise<void> {
  const { skip, server, createDatabase } = await postgresCluster(t, kept('postgres'));
  if (skip !== false) {
    t.pass('no PostgreSQL', { skip });
    return;
  }
  const ofServer = `postgres://${SUPERUSER}@/postgres?host=${server!.folder}`;
  await asked(t, FOLDER === undefined ? await createDatabase() : ofServer);
}

t.test('on PostgreSQL', { skip: isLeftOut('PostgreSQL') }, onPostgres);

t.test('on PGlite', { skip: isLeftOut('PGlite') }, async (t) =>
  asked(t, kept('pglite') ?? (await migratedFolder(temporaryFolder(t)))),
);
