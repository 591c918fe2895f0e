/** The journal of the pool in a data directory, for the node and for the tools. */
import { join } from 'node:path';
import { type DiskJournal, openJournal } from '../adapters/journal.ts';
import type { Journal, Log } from '../base/ports.ts';
import { StartError } from '../base/start-error.ts';
import type { Config } from '../node/config/settings.ts';

/** The caller holds the lock of the data directory. Throws StartError. */
export function poolJournal({ dataDirectory }: Config, log: Log): Journal {
  const path = join(dataDirectory, 'pool.journal');
  try {
    const journal = openJournal({ path });
    const { isDamaged, ...found } = reportOf(journal);
    if (isDamaged) log.error('pool.journal-damaged', found);
    else if (found.unfinishedBytes > 0) log.info('pool.journal-cut', found);
    return journal;
  } catch (cause) {
    const remedy = 'move it away to start without the unconfirmed transactions in it';
    throw new StartError(`journal of the pool ${path}`, 'data-directory', cause, remedy);
  }
}

/** What opening has found, for the log. */
export const reportOf = ({ recovered, findings }: DiskJournal) => ({
  isDamaged: findings.places + findings.restored > 0,
  records: recovered.length,
  ...findings,
});
