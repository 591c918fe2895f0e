/** The newest block of a chain. */
import type { Header } from '../block/header.ts';
import type { HeaderRow } from '../block/header-row.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { headerRowAt, heightOf } from './store/stored-blocks.ts';

export interface Tip {
  readonly height: number;
  readonly id: Uint8Array;
  readonly header: Header;
  /** Score of the whole chain. */
  readonly score: bigint;
}

export function tipOf(height: number, row: HeaderRow): Tip {
  return { height, id: row.header.signature, header: row.header, score: row.score };
}

/** The chain up to the block with this id; undefined where the chain does not have it. */
export function tipWith(id: Uint8Array, view: LedgerView): Tip | undefined {
  const height = heightOf(view, id);
  const row = height === undefined ? undefined : headerRowAt(view, height);
  return height === undefined || row === undefined ? undefined : tipOf(height, row);
}
