/** The journals in a data directory, for the node and for the tools. */
import { join } from 'node:path';
import { type DiskJournal, openJournal } from '../adapters/journal.ts';
import { StartError } from '../base/faults/start-error.ts';
import type { Journal } from '../base/ports/journal.ts';
import type { Log } from '../base/ports/log.ts';
import type { Config } from '../node/config/settings.ts';

/** Of unconfirmed transactions. The caller holds the lock of the data directory. Throws StartError. */
export function poolJournal(config: Config, log: Log): Journal {
  const remedy = 'move it away to start without the unconfirmed transactions in it';
  const { journal, isDamaged, found } = opened(config, 'pool', 'pool', remedy);
  if (isDamaged) log.error('pool.journal-damaged', found);
  else if (found.unfinishedBytes > 0) log.info('pool.journal-cut', found);
  return journal;
}

/** Of the slots that this node has used. The caller holds the lock, too. Throws StartError. */
export function usedSlotsJournal(config: Config, log: Log): Journal {
  const remedy =
    'move it away, and start after the end of the round in which the node was stopped; under proof ' +
    'of stake, where a turn does not end, once other nodes have a newer block than its last';
  const { journal, isDamaged, found } = opened(config, 'turns', 'miner', remedy);
  if (isDamaged) log.error('miner.journal-damaged', found);
  else if (found.unfinishedBytes > 0) log.info('miner.journal-cut', found);
  return journal;
}

/** A journal, and what opening has found in it. */
function opened({ dataDirectory }: Config, name: string, owner: string, remedy: string) {
  const path = join(dataDirectory, `${name}.journal`);
  try {
    const journal: DiskJournal = openJournal({ path });
    const { recovered, findings, damagedPlaces } = journal;
    return {
      journal,
      isDamaged: damagedPlaces > 0,
      found: { records: recovered.length, ...findings },
    };
  } catch (cause) {
    throw StartError.ofFile(`journal of the ${owner} ${path}`, 'data-directory', cause, remedy);
  }
}
