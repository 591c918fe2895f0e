/**
 * Fills a new store with the blocks that a damaged one still holds. Every table follows from the
 * blocks.
 *
 * Invariants: each block passes every check, like a block of a peer; the rebuild ends at the first
 * block that is damaged or missing, and peers supply the rest; an interrupted rebuild continues
 * where it stopped.
 */
import { Refusal } from '../../base/errors.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import { type Block, joinBlock } from '../../block/block.ts';
import { decodeHeaderRow } from '../../block/header-row.ts';
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
import { headers, transactions, voterOverrides } from '../../ledger/tables.ts';
import type { VoterOverride } from '../../tx/rules/chain-rules.ts';
import type { Blockchain } from '../blockchain.ts';
import { requireOverridesOfRows } from '../finality/required-overrides.ts';
import { importBlocks } from '../import/import-blocks.ts';

/** The encoded rows of a table in the order of their keys, without the unreadable ones. */
export type StoredRows = (table: number) => Iterable<readonly [Uint8Array, Uint8Array]>;

export interface Rebuilt {
  readonly height: number;
  /** The height of the damaged store, as far as it can be read. */
  readonly of: number;
}

const FIRST = 2;
const PROGRESS_BLOCKS = 10_000;

/** Rejects with StartError where the blocks were made with voters that `overrides` lacks. */
export async function rebuild(
  blockchain: Blockchain,
  verifier: Verifier,
  rows: StoredRows,
  log: Log,
  overrides: readonly VoterOverride[] = [],
): Promise<Rebuilt> {
  const { scheme } = blockchain.view;
  requireOverridesOfRows(rows(voterOverrides.id), overrides, scheme);
  let reported = 0;
  try {
    await importBlocks(blockchain, verifier, blocksIn(rows, scheme), {
      from: FIRST,
      onProgress({ height, transactions: count }) {
        if (height < reported + PROGRESS_BLOCKS) return;
        reported = height;
        log.info('chain.rebuilding', { height, transactions: count });
      },
    });
  } catch (cause) {
    if (!(cause instanceof Refusal || cause instanceof CodecError)) throw cause;
    log.warn('chain.rebuild-ended', { why: cause.message });
  }
  let of = 0;
  for (const [key] of rows(headers.id)) of = headers.key.decode(key);
  return { height: blockchain.tip().height, of };
}

/** Consecutive blocks from FIRST on, up to the first incomplete one. */
function* blocksIn(rows: StoredRows, scheme: ChainScheme): Generator<Block> {
  const bodies = rows(transactions.id)[Symbol.iterator]();
  let body = bodies.next();
  let next = FIRST;
  for (const [key, value] of rows(headers.id)) {
    const height = headers.key.decode(key);
    if (height < next) continue;
    if (height > next) return;
    const { header, transactionCount } = decodeHeaderRow(value, scheme);
    const parts: Uint8Array[] = [];
    for (; !(body.done ?? false); body = bodies.next()) {
      const [at, index] = transactions.key.decode(body.value[0]);
      if (at > height) break;
      if (at === height && index === parts.length) parts.push(body.value[1]);
    }
    if (parts.length !== transactionCount) return;
    yield joinBlock(header, parts, scheme);
    next++;
  }
}
