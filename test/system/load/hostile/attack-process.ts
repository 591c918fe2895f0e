/** The process of attack.ts: sends everything at once, until it is told to end. */
import { nthCall } from '../../../../bench/transfers/contract-calls.ts';
import { createSenders } from '../../../../bench/transfers/senders.ts';
import { base58 } from '../../../../src/base/base58.ts';
import type { Sender } from '../../../../src/cli/load/transfers.ts';
import { txToJson } from '../../../../src/tx/json/encode.ts';
import { scheme } from '../../e2e/process-network.ts';
import { type Rest, restOf } from '../../e2e/rest.ts';
import { type AttackJob, type AttackResult, create } from './attack.ts';

const FLOOD_AT_ONCE = 8;
const FLOOD_AGE_MS = 60_000;
const BETWEEN_CALLS_MS = 400;
const READERS = 4;

let isOver = false;

async function run(job: AttackJob): Promise<AttackResult> {
  const rests = job.urls.map((url) => restOf(url, job.apiKey));
  const [rest] = rests as [Rest];
  const [author, other] = job.authors.map((address) => ({ rest, address }));
  const [caller, ...floods] = createSenders(job.senders.count, scheme, job.senders.name);
  const lost: string[] = [];
  const counts: Record<string, number> = {};
  let sent = 0;
  const count = (kind: string): void => {
    counts[kind] = (counts[kind] ?? 0) + 1;
  };
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const any = (): Rest => rests[sent % rests.length]!;
  const contractsOf = (role: string): readonly string[] => job.contracts[role] ?? [];

  async function call(id: string, from: Sender, timestamp: number, kind: string): Promise<void> {
    const tx = nthCall(0, base58.decode(id), [], [from], timestamp, scheme);
    sent++;
    const { status } = await any().post('/transactions/broadcast', txToJson(tx, scheme));
    count(`${kind} ${status}`);
  }

  /** Each contract has a call that waits. */
  async function calls(): Promise<void> {
    while (!isOver) {
      const now = Date.now();
      const all = Object.values(job.contracts).flat();
      await Promise.all(all.map((id, i) => call(id, caller!, now + i, 'calls')));
      await pause(BETWEEN_CALLS_MS);
    }
  }

  /** Calls that are older than those of others. */
  async function flood(from: Sender, ids: readonly string[]): Promise<void> {
    const began = Date.now() - FLOOD_AGE_MS;
    for (let i = 0; !isOver && i < job.flood; ) {
      const some = Array.from({ length: FLOOD_AT_ONCE }, () => i++);
      await Promise.all(
        some.map((n) => call(ids[n % ids.length]!, from, began + n, 'older calls')),
      );
    }
  }

  async function reads(from: Rest, id: string): Promise<void> {
    const path = `/contracts/${id}?matches=${encodeURIComponent(PATTERN)}`;
    while (!isOver) count(`patterns ${(await from.get(path)).status}`);
  }

  async function updates(id: string): Promise<void> {
    while (!isOver) {
      const image = { image: `lost:${sent}`, imageHash: 'cd'.repeat(32) };
      const tx = { type: 107, version: 1, sender: author!.address, contractId: id, ...image };
      const { status } = await rest.post('/transactions/signAndBroadcast', tx);
      count(`updates ${status}`);
      await pause(BETWEEN_CALLS_MS);
    }
  }

  /** Images that start and never connect, and some that nobody has. */
  async function images(): Promise<void> {
    for (let i = 0; !isOver; i++) {
      lost.push(await create({ image: `lost:${i}`, imageHash: 'ab'.repeat(32) }, other!));
      const silent = job.silent[i];
      if (silent !== undefined) await create(silent, author!);
      count('creations');
      await pause(BETWEEN_CALLS_MS);
    }
  }

  async function slowPulls(): Promise<void> {
    for (const image of job.pulls) {
      await create(image, author!);
      count('slow pulls');
    }
  }

  const [rows] = contractsOf('rows');
  const slow = contractsOf('slow');
  await Promise.all([
    calls(),
    images(),
    slowPulls(),
    ...floods.map((from, i) => flood(from, i % 2 === 0 ? slow : contractsOf('again'))),
    ...Array.from({ length: READERS }, (_, i) => reads(rests[i % rests.length]!, rows!)),
    ...slow.slice(0, 3).map(updates),
  ]);
  return { counts, lost };
}

const PATTERN = `(${'(a|b|k)?'.repeat(40)}k?[0-9]*)*`;

process.on('message', async (message) => {
  if (message === 'end') {
    isOver = true;
    return;
  }
  process.send?.(await run(message as AttackJob));
  process.disconnect();
});
