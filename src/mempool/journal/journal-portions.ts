/**
 * Writes many records to the journal of the pool: the transactions of blocks that are about to be
 * rolled back, from a reorganisation or from the tool.
 *
 * Invariants: resolves when every record is on disk; at most a portion waits for the disk, however
 * many records there are, so that those of clients find room beside them; those of clients never
 * take all room; it ends within a bounded time after the disk has taken the last portion.
 */
import { pause } from '../../base/deadline.ts';
import { OwnFailure } from '../../base/errors.ts';
import { JournalFullError } from '../../base/faults/journal-full.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Journal } from '../../base/ports/journal.ts';

/** The records are not all on disk, so what needs them must not happen. */
export class NotKeptError extends OwnFailure {
  override name = 'NotKeptError';

  constructor(why: string, cause: unknown) {
    super('StatusCheckFailed', why);
    this.cause = cause;
  }
}

/** Far below what a journal takes at a time. */
export const PORTION_BYTES = 1024 * 1024;
/** Where needed records of others fill the journal. */
const PAUSE_MS = 50;
const PAUSES_MAX = 200;

export interface PortionPorts {
  readonly journal: Pick<Journal, 'append'>;
  readonly clock: Pick<Clock, 'after'>;
  /** Called for each portion that is on disk, with the number of its records. */
  readonly landed?: (count: number) => void;
}

/** In their order. Throws NotKeptError. */
export async function appendInPortions(
  records: Iterable<Uint8Array>,
  ports: PortionPorts,
): Promise<void> {
  let portion: Uint8Array[] = [];
  let bytes = 0;
  for (const record of records) {
    if (bytes > 0 && bytes + record.length > PORTION_BYTES) {
      await appendPortion(portion, ports);
      portion = [];
      bytes = 0;
    }
    portion.push(record);
    bytes += record.length;
  }
  await appendPortion(portion, ports);
}

async function appendPortion(
  portion: readonly Uint8Array[],
  { journal, clock, landed: done }: PortionPorts,
): Promise<void> {
  let left = portion;
  for (let pauses = 0; ; pauses++) {
    const landed = await Promise.allSettled(left.map((record) => journal.append(record, true)));
    const failed = landed.flatMap((one, i) =>
      one.status === 'rejected' ? [{ record: left[i]!, cause: one.reason as unknown }] : [],
    );
    if (failed.length === 0) return done?.(portion.length);
    const other = failed.find(({ cause }) => !(cause instanceof JournalFullError));
    if (other !== undefined || pauses === PAUSES_MAX) {
      const { cause } = other ?? failed[0]!;
      throw new NotKeptError(`the pool cannot be written to disk: ${String(cause)}`, cause);
    }
    left = failed.map(({ record }) => record);
    await pause(clock, PAUSE_MS);
  }
}
