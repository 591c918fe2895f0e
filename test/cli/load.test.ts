// The load tool against a real node: what it counts is what the node has.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startDevNode, temporaryFolder } from '../system/e2e/dev-node.ts';
import { jsonLines, run } from './run.ts';

interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

const isOrdered = ({ p50, p95, p99, max }: Percentiles): boolean =>
  p50 >= 0 && p50 <= p95 && p95 <= p99 && p99 <= max + 0.01;

t.test('a node', async (t) => {
  const node = await startDevNode(t, { round: '500ms' });
  const folder = temporaryFolder(t);
  const seedFile = join(folder, 'seed');
  writeFileSync(seedFile, `${node.accounts[0]!.seed}\n`);
  const env = { PLATFORM_NODE_URL: node.rest.url };
  const load = (...args: string[]) => run(['load', '--seed-file', seedFile, ...args], { env });

  await t.test('at a rate: every transfer is accepted, and confirmed', async (t) => {
    const { code, stdout, stderr } = await load(
      ...['--seconds', '3', '--rate', '50', '--accounts', '5', '--ndjson'],
    );
    t.equal(code, 0, stderr);
    t.match(stderr, /^funding 5 accounts\n$/);
    const lines = jsonLines(stdout);
    const result = lines.pop()!;
    t.match(result, { accepted: 150, confirmed: 150, unconfirmed: 0, refused: {}, lost: 0 });
    t.ok(isOrdered(result['acceptedMs'] as Percentiles), 'latencies of answers');
    t.ok(isOrdered(result['confirmedMs'] as Percentiles), 'latencies of blocks');
    t.ok(lines.length >= 2, 'a line every second');
    t.match(lines[0], { second: 1, accepted: Number, confirmed: Number, refused: 0 });
  });

  await t.test('flat out, from accounts that still have funds', async (t) => {
    const { code, stdout, stderr } = await load('--seconds', '30', '--count', '200');
    t.equal(code, 0, stderr);
    t.match(JSON.parse(stdout), { accepted: 200, confirmed: 200, unconfirmed: 0 });
  });

  await t.test('a node of another network refuses before anything is signed', async (t) => {
    const { code, stdout, stderr } = await load('--count', '10', '--chain-id', 'X');
    t.equal(code, 1);
    t.match(stderr, /address/i);
    t.notMatch(stdout, /accepted/);
  });

  await t.test('an account without funds, and wrong usage', async (t) => {
    const poor = join(folder, 'poor');
    writeFileSync(poor, 'a phrase without funds');
    const missing = ['load', '--seed-file', join(folder, 'none'), '--count', '10'];
    t.match(await run(missing, { env }), { code: 1, stderr: /^Cannot read '.*none': ENOENT/ });
    const unfunded = await run(['load', '--seed-file', poor, '--count', '10'], { env });
    t.equal(unfunded.code, 1);
    t.match(unfunded.stderr, /owns 0, and \d+ are needed/);
    for (const args of [
      ['--rate', '0'],
      ['--seconds', 'x'],
      ['--count', '3000000'],
    ]) {
      t.equal((await load(...args)).code, 2, args.join(' '));
    }
    t.equal((await run(['load', '--seed-file', seedFile, '-u', 'nowhere'], {})).code, 2);
  });
});

t.test('no node', async (t) => {
  const folder = temporaryFolder(t);
  const seedFile = join(folder, 'seed');
  writeFileSync(seedFile, 'a phrase');
  const { code, stderr } = await run(['load', '--seed-file', seedFile, '-u', 'http://127.0.0.1:1']);
  t.equal(code, 1);
  t.match(stderr, /A node does not answer/);
});
