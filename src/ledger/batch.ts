/** The writes of one commit, put in the order of the store. */
import type { StoreWrite } from '../base/ports.ts';
import { sortInTurns, type Turns } from '../base/turns.ts';
import { keyText } from './key-codecs.ts';
import type { Row } from './write-set.ts';

/**
 * A write with its place in the order, and the decoded row from which it comes, if there is one.
 */
export interface PendingWrite extends StoreWrite {
  readonly text: string;
  readonly row: Row | undefined;
}

/**
 * All writes of one commit by table and key. Where several writes have one key, the last counts.
 */
export class Batch {
  private readonly tables: (PendingWrite[] | undefined)[] = [];

  add(write: PendingWrite): void {
    const list = this.tables[write.table];
    if (list === undefined) this.tables[write.table] = [write];
    else list.push(write);
  }

  put(table: number, key: Uint8Array, value: Uint8Array | undefined): void {
    this.add({ table, key, value, text: keyText(key), row: undefined });
  }

  async writes(turns: Turns): Promise<PendingWrite[]> {
    const writes: PendingWrite[] = [];
    for (const added of this.tables) {
      if (added === undefined) continue;
      // The rows of one block arrive sorted and without repetition.
      const list = isAscending(added) ? added : await sortInTurns(added, byText, turns);
      for (let i = 0; i < list.length; i++) {
        const write = list[i]!;
        if (write.text !== list[i + 1]?.text) writes.push(write);
      }
      if (turns.due()) await turns.take();
    }
    return writes;
  }
}

function isAscending(list: readonly PendingWrite[]): boolean {
  for (let i = 1; i < list.length; i++) if (list[i - 1]!.text >= list[i]!.text) return false;
  return true;
}

// The sort is stable, so that the later of two writes to a key stays the later one.
const byText = (a: PendingWrite, b: PendingWrite): number =>
  a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
