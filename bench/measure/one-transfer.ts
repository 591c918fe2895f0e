/**
 * What the main thread does with one transfer, stage by stage: pool, chain and LMDB in one process,
 * without HTTP, signatures and the disk of the journal. Prints the processor time of the thread for
 * a transfer in microseconds, as a JSON object: the least of many blocks, and the median.
 *
 *   node --single-threaded-gc bench/measure/one-transfer.ts [BLOCKS] [--allocations]
 *
 * `--allocations` prints the bytes that each function allocates for a transfer instead.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Frames, MARK_BYTES } from '../../src/adapters/journal-frames.ts';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import { stderrLog } from '../../src/adapters/log.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { Disposal } from '../../src/base/disposal.ts';
import type { Journal } from '../../src/base/ports/journal.ts';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import { loadConfig } from '../../src/cli/config-file.ts';
import { genesisBlock } from '../../src/cli/genesis-block.ts';
import { tables } from '../../src/ledger/tables.ts';
import { createBytesIndex } from '../../src/mempool/entries/bytes-index.ts';
import { pack } from '../../src/mempool/packer.ts';
import { openBlockchain } from '../../src/node/open-blockchain.ts';
import { openPool } from '../../src/node/open-pool.ts';
import { prepareBroadcasts, readPrepared } from '../../src/rest/broadcast-offload.ts';
import { makeBlock } from '../../test/chain/make-block.ts';
import { benchSenders, produceBlock } from '../chain/generate.ts';
import { makeDevFolder } from '../node/dev-folder.ts';
import { broadcastBody, fundingTransfers, nthTransfer } from '../transfers/transfers.ts';
import { allocationsDuring } from './allocations.ts';
import { threadTimes } from './thread-times.ts';

const PER_BLOCK = 6000;
/** Transfers that arrive in one turn of the event loop. */
const GROUP = 16;
const ROUND_MS = 1000;
const MICROSECONDS = 1e6;
/** The first blocks run on cold code. */
const WARM_UP = 5;

/** Microseconds for a transfer. */
interface Stages {
  readonly admission: number;
  readonly packing: number;
  /** Signature of the block, its rows, the write, and the removal from the pool. */
  readonly commit: number;
  readonly all: number;
}

const { values, positionals } = parseArgs({
  options: { allocations: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const blocks = Number(positionals[0] ?? 15);
const dir = mkdtempSync(join(tmpdir(), 'one-transfer-'));
const genesisTimestamp = Date.now() - 2 * (blocks + WARM_UP) * ROUND_MS;
const folder = await makeDevFolder({ dir, roundMs: ROUND_MS, genesisTimestamp });
const { scheme, owner } = folder;
const { config } = await loadConfig(folder.config);
const store = await openLmdbStore({ folder: dir, tables });
const clock = systemClock();
const log = stderrLog('error', false);
/** The checks run in threads, or before the transfers come here. */
const verifier: Verifier = {
  verifyOne: async () => true,
  verify: async (items) => items.map(() => true),
  close: async () => {},
};
const chain = await openBlockchain(config, genesisBlock(config), {
  scheme,
  store,
  verifier,
  clock,
  log,
});
const { blockchain } = chain;
const started = new Disposal();
const journal = framesOnly();
const { pool } = await openPool(config, {
  ...chain,
  scheme,
  journal,
  verifier,
  clock,
  log,
  started,
});
createBytesIndex(pool, scheme.fastHash);
const senders = benchSenders(folder);
const prepare = prepareBroadcasts(scheme, {
  verifyAll: (checks) => checks.map(() => true),
});
await produceBlock(blockchain, folder, (timestamp) =>
  fundingTransfers(senders, owner, timestamp, scheme),
);

let sent = 0;
for (let block = 0; block < WARM_UP; block++) await preparedBlock(block % 2 === 0)();
if (values.allocations) {
  for (const isPrepared of [false, true]) {
    const run = preparedBlock(isPrepared);
    const found = await allocationsDuring(run);
    print({ isPrepared, ...found(PER_BLOCK) });
  }
} else {
  const measured = { decoded: [] as Stages[], bytes: [] as Stages[] };
  for (let block = 0; block < blocks; block++) {
    measured.decoded.push(await preparedBlock(false)());
    measured.bytes.push(await preparedBlock(true)());
  }
  for (const [made, stages] of Object.entries(measured)) {
    print({ made, least: quantile(stages, 0), median: quantile(stages, 0.5) });
  }
}
await started.dispose();
await store.close();
rmSync(dir, { recursive: true });

/** A journal that makes the frames of a group and forgets them. */
function framesOnly(): Journal {
  const frames = new Frames(new Uint8Array(MARK_BYTES));
  let written: Promise<void> | undefined;
  return {
    recovered: [],
    append(record) {
      frames.add(record);
      written ??= clock.turn().then(() => {
        frames.clear();
        written = undefined;
      });
      return written;
    },
    rewrite: async () => {},
    close: async () => {},
  };
}

/**
 * `isPrepared`: the transfers come as bytes with verdicts, as `rest-api.threads` brings them. Returns
 * what submits them and makes their block.
 */
function preparedBlock(isPrepared: boolean): () => Promise<Stages> {
  const slot = blockchain.nextSlot(owner, blockchain.tip().header.timestamp + 1)!;
  const txs = Array.from({ length: PER_BLOCK }, () =>
    nthTransfer(sent++, senders, slot.from, scheme),
  );
  const submissions: (() => Promise<unknown>)[] = isPrepared
    ? txs.map((tx) => submissionOf(messageOf(broadcastBody(tx, scheme))))
    : txs.map((tx) => () => pool.submit(tx));

  async function submitAll(): Promise<void> {
    for (let at = 0; at < PER_BLOCK; at += GROUP) {
      await Promise.all(submissions.slice(at, at + GROUP).map((submit) => submit()));
    }
  }

  return async () => {
    const admission = await timed(submitAll);
    let packing = 0;
    const whole = await timed(() =>
      makeBlock(blockchain, owner, slot.from, async (draft, limits) => {
        packing = await timed(() => pack(pool, limits, draft, clock));
      }),
    );
    const commit = rounded(whole - packing);
    return { admission, packing, commit, all: rounded(admission + whole) };
  };
}

function messageOf(body: string): Uint8Array {
  const [done] = prepare([Buffer.from(body)]);
  if (done === undefined || !('message' in done)) throw new Error('a transfer can be prepared');
  return done.message;
}

function submissionOf(message: Uint8Array): () => Promise<unknown> {
  return () => {
    const prepared = readPrepared(message);
    return pool.submitBytes(prepared.bytes, prepared);
  };
}

/** Microseconds for a transfer. */
async function timed(job: () => Promise<unknown>): Promise<number> {
  const before = threadTimes(process.pid).main;
  await job();
  return rounded(((threadTimes(process.pid).main - before) * MICROSECONDS) / PER_BLOCK);
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Each stage by itself. */
function quantile(blocks: readonly Stages[], share: number): Record<string, number | undefined> {
  const of = (stage: keyof Stages) =>
    blocks.map((one) => one[stage]).toSorted((a, b) => a - b)[Math.floor(share * blocks.length)];
  return {
    admission: of('admission'),
    packing: of('packing'),
    commit: of('commit'),
    all: of('all'),
  };
}

function print(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
