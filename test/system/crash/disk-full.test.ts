// Row R14 of the reliability goals: a node whose disk is full refuses transactions that it cannot
// store, with status 503, and keeps answering reads. It works again as soon as there is space,
// without repair. The disk is a small file system in memory, which only root can mount; for other
// users the test is skipped.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { makeDevFolder } from '../../../bench/node/dev-folder.ts';
import { startNode } from '../../../bench/node/node-process.ts';
import { createSenders } from '../../../bench/transfers/senders.ts';
import {
  broadcastBody,
  fundingTransfers,
  nthTransfer,
} from '../../../bench/transfers/transfers.ts';
import { base58 } from '../../../src/base/base58.ts';
import { judgeChain } from './witness/cold-chain.ts';

const DISK_BYTES = 16 * 1024 * 1024;
const ROUND_MS = 1000;
const SENDERS = 8;
const WAIT_MS = 100;
const WAIT_MS_MAX = 120_000;
const REFUSED = 503;

t.setTimeout(3 * WAIT_MS_MAX);

const dir = mkdtempSync(join(tmpdir(), 'full-'));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
const disk = join(dir, 'disk');
mkdirSync(disk);

function mounted(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk], {
      stdio: 'ignore',
    });
    t.teardown(() => execFileSync('umount', ['--lazy', disk]));
    return true;
  } catch {
    return false;
  }
}

const skip = mounted() ? false : 'no file system can be mounted here';

t.test('a full disk is refused with 503 and recovered from', { skip }, async (t) => {
  const genesisTimestamp = Date.now() - ROUND_MS;
  const folder = await makeDevFolder({ dir, roundMs: ROUND_MS, genesisTimestamp });
  const { scheme, owner } = folder;
  // The whole disk is smaller than what a node leaves free.
  const options = { set: [`data-directory=${disk}`, 'storage.free-space-min=0'] };
  const senders = createSenders(SENDERS, scheme);
  let node = await startNode(folder, options);
  t.teardown(() => node.kill());
  let sent = 0;
  const acknowledged: Uint8Array[] = [];

  async function post(tx: { id: Uint8Array } & Parameters<typeof broadcastBody>[0]) {
    const response = await fetch(`http://127.0.0.1:${node.port}/transactions/broadcast`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: broadcastBody(tx, scheme),
      signal: AbortSignal.timeout(WAIT_MS_MAX),
    });
    if (response.status === 200) acknowledged.push(tx.id.slice());
    return { status: response.status, text: await response.text() };
  }
  const next = () => post(nthTransfer(sent++, senders, Date.now(), scheme));
  const height = async () => ((await node.get('/blocks/height')) as { height: number }).height;

  for (const tx of fundingTransfers(senders, owner, Date.now(), scheme)) await post(tx);
  await until(async () => (await poolSize()) === 0);
  t.equal((await next()).status, 200, 'there is space');

  const ballast = join(disk, 'ballast');
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(ballast, new Uint8Array(bavail * bsize));
  let refusal: { status: number; text: string } | undefined;
  await until(async () => {
    const answer = await next();
    if (answer.status !== 200) refusal = answer;
    return refusal !== undefined;
  });
  t.equal(refusal?.status, REFUSED, `refused: ${refusal?.text}`);
  t.ok(JSON.parse(refusal?.text ?? '').error > 0, 'with an error of the catalogue');
  t.ok((await height()) > 1, 'reads are answered all the same');

  rmSync(ballast);
  await until(async () => (await next()).status === 200);
  const before = await height();
  await until(async () => (await height()) > before && (await poolSize()) === 0);
  await node.stop();
  node = await startNode(folder, options);
  await until(async () => (await poolSize()) === 0);
  const missing: unknown[] = [];
  for (const id of acknowledged) {
    const path = `/transactions/info/${base58.encode(id)}`;
    if ((await node.get(path).catch(() => undefined)) === undefined) missing.push(path);
  }
  t.strictSame(missing, [], 'everything acknowledged is there');
  await node.stop();
  const { height: judged } = await judgeChain(folder.config, scheme, options.set);
  t.ok(judged > before, 'and good by the bytes of the blocks');

  async function poolSize(): Promise<number> {
    return ((await node.get('/transactions/unconfirmed/size')) as { size: number }).size;
  }
});

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < WAIT_MS_MAX; waited += WAIT_MS) {
    if (await isTrue()) return;
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  throw new Error('what the test waits for does not come');
}
