/** The journal of the turns that this node has used, for the node and for the tools. */
import { join } from 'node:path';
import { openJournal } from '../adapters/journal.ts';
import type { Journal, Log } from '../base/ports.ts';
import { StartError } from '../base/start-error.ts';
import type { Config } from '../node/config/settings.ts';
import { reportOf } from './pool-journal.ts';

/** The caller holds the lock of the data directory. Throws StartError. */
export function usedSlotsJournal({ dataDirectory }: Config, log: Log): Journal {
  const path = join(dataDirectory, 'turns.journal');
  try {
    const journal = openJournal({ path });
    const { isDamaged, ...found } = reportOf(journal);
    if (isDamaged) log.error('miner.journal-damaged', found);
    else if (found.unfinishedBytes > 0) log.info('miner.journal-cut', found);
    return journal;
  } catch (cause) {
    const remedy =
      'move it away, and start after the end of the round in which the node was stopped; under proof ' +
      'of stake, where a turn does not end, once other nodes have a newer block than its last';
    throw new StartError(`journal of the miner ${path}`, 'data-directory', cause, remedy);
  }
}
