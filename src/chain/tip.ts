/** The newest block of a chain. */
import type { Header } from '../block/header.ts';
import type { HeaderRow } from '../block/header-row.ts';

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
