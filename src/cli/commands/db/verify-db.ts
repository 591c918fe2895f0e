/**
 * Checks the store of a node, which may run: its file as a start does, that it belongs to the
 * configuration, and the sums of its state. A replay judges the blocks anew, as those of a peer, in a
 * store of its own, and compares all that follows from them.
 */

import { join } from 'node:path';
import { openLmdbStore } from '../../../adapters/lmdb/store.ts';
import { stderrLog } from '../../../adapters/log.ts';
import { systemClock } from '../../../adapters/system.ts';
import { createVerifyThreads } from '../../../adapters/verify/signature-threads.ts';
import { AssertionError } from '../../../base/assert.ts';
import { base58 } from '../../../base/base58.ts';
import { equal } from '../../../base/bytes.ts';
import { Refusal } from '../../../base/errors.ts';
import { encodeHex } from '../../../base/hex.ts';
import type { StoreView } from '../../../base/ports/store.ts';
import { type Block, blockId } from '../../../block/block.ts';
import type { Blockchain } from '../../../chain/blockchain.ts';
import { importBlocks } from '../../../chain/import/import-blocks.ts';
import { initialBalance } from '../../../chain/store/audit.ts';
import { requireSameNetwork, requireSameSettings } from '../../../chain/store/network-identity.ts';
import { blockAt, tipHeader } from '../../../chain/store/stored-blocks.ts';
import { CodecError } from '../../../codec/codec.ts';
import { brokenInvariants } from '../../../ledger/invariants.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../../ledger/key-codecs.ts';
import {
  blocksByGenerator,
  headers,
  heights,
  stateHashes,
  tables,
  transactionIds,
  transactions,
  transactionsByAddress,
  transactionsByContract,
} from '../../../ledger/tables.ts';
import { sharedSettings } from '../../../node/config/genesis-section.ts';
import { openBlockchain } from '../../../node/open-blockchain.ts';
import type { SetFlags } from '../../config-file.ts';
import { cryptographyOfConfig } from '../../cryptography.ts';
import { genesisBlock } from '../../genesis-block.ts';
import { CliError } from '../../terminal/exit.ts';
import { temporaryFolder } from '../../terminal/temporary-folder.ts';
import { progressLine } from '../chain/progress-line.ts';
import { type OpenDb, withDb } from './open-db.ts';
import { requireSpace } from './require-space.ts';

const GENESIS_HEIGHT = 1;
/** Of the broken sums, so many are named. */
const NAMED_MAX = 20;

export interface VerifyFlags extends SetFlags {
  readonly full?: true;
}

/** Throws CliError with all that is wrong. */
export const verifyStore = (path: string, flags: VerifyFlags) =>
  withDb(path, flags, async (db) => {
    const pages = await db.reading.check();
    const genesis = genesisBlock(db.config);
    const tip = await requireChain(db, genesis);
    if (flags.full === true) await judgeAnew(db, genesis, tip.height);
    const { height } = tip;
    const hash = encodeHex(tip.stateHash);
    const blockIdText = base58.encode(tip.id);
    return {
      height,
      blockId: blockIdText,
      stateHash: hash,
      pages,
      full: flags.full === true,
    };
  });

async function requireChain({ config, view }: OpenDb, genesis: Block) {
  try {
    requireSameNetwork(view, blockId(genesis));
    await requireSameSettings(view, sharedSettings(config), { write: async () => {} });
    const tip = tipHeader(view);
    const stateHash = tip && view.get(stateHashes, tip.height);
    if (tip === undefined || stateHash === undefined) throw new CliError('the chain has no end');
    const broken = brokenInvariants(view, initialBalance({ view }));
    if (broken.length > 0) throw new CliError(broken.slice(0, NAMED_MAX).join('\n'));
    return { height: tip.height, id: tip.header.signature, stateHash };
  } catch (cause) {
    // A row is what was written, and still no row of this release.
    throw cause instanceof AssertionError ? new CliError(cause.message) : cause;
  }
}

async function judgeAnew(db: OpenDb, genesis: Block, tip: number): Promise<void> {
  const { config, reading } = db;
  const { pages, freePages, pageBytes } = await reading.use();
  await requireSpace(config, config.dataDirectory, (pages - freePages) * pageBytes);
  const part = temporaryFolder(join(config.dataDirectory, 'verify-'));
  const { family, scheme } = cryptographyOfConfig(config);
  const log = stderrLog('warn', process.stderr.isTTY === true);
  const verifier = createVerifyThreads(family, { log });
  try {
    const store = await openLmdbStore({ folder: part.path, tables });
    try {
      const ports = { scheme, store, verifier, clock: systemClock(), log };
      const { blockchain } = await openBlockchain(config, genesis, ports);
      await judge(db, blockchain, tip, verifier);
      requireSameRows(reading.view, store);
    } finally {
      await store.close();
    }
  } finally {
    await verifier.close();
    part.remove();
  }
}

type Verifier = ReturnType<typeof createVerifyThreads>;

/** The first block after which the state differs is the one that is named. */
async function judge({ view }: OpenDb, again: Blockchain, tip: number, verifier: Verifier) {
  function* blocks(): Generator<Block> {
    for (let height = GENESIS_HEIGHT + 1; height <= tip; height++) {
      const block = blockAt(view, height);
      if (block === undefined) throw new CliError(`block ${height} is missing`);
      yield block;
    }
  }
  const progress = progressLine(tip);
  let compared = 0;
  const compare = (to: number): void => {
    for (let height = compared + 1; height <= to; height++) {
      const [was, is] = [view.get(stateHashes, height), again.stateHash(height)];
      if (was !== undefined && is !== undefined && equal(was, is)) continue;
      throw new CliError(`another state after block ${height} than its transactions lead to`);
    }
    compared = to;
  };
  try {
    await importBlocks(again, verifier, blocks(), {
      from: GENESIS_HEIGHT + 1,
      onProgress({ height }) {
        compare(height);
        progress.show(height, '');
      },
    });
    compare(tip);
  } catch (cause) {
    if (!(cause instanceof Refusal || cause instanceof CodecError)) throw cause;
    throw new CliError(`block ${again.tip().height + 1} breaks a rule: ${cause.message}`);
  } finally {
    progress.end();
  }
}

/** Those that follow from the blocks, besides the state. */
const OF_BLOCKS = new Set<number>(
  [
    headers,
    heights,
    transactions,
    transactionIds,
    transactionsByAddress,
    transactionsByContract,
    blocksByGenerator,
  ].map(({ id }) => id),
);

function requireSameRows(was: StoreView, is: StoreView): void {
  for (const { id, name, kind } of tables) {
    if (kind === 'local' && !OF_BLOCKS.has(id)) continue;
    const others = rowsOf(is, id)[Symbol.iterator]();
    for (const [key, value] of rowsOf(was, id)) {
      const other = others.next().value;
      if (other !== undefined && equal(other[0], key) && equal(other[1], value)) continue;
      throw new CliError(
        `the table ${name} has a wrong row, or one is missing, at ${encodeHex(key)}`,
      );
    }
    if (others.next().value !== undefined) throw new CliError(`the table ${name} lacks a row`);
  }
}

const rowsOf = (view: StoreView, table: number) =>
  view.range(table, START_OF_TABLE, END_OF_TABLE, Number.MAX_SAFE_INTEGER);
