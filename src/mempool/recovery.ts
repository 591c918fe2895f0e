/**
 * Puts the transactions of the journal back into the pool at start. Those that the head refuses are
 * in doubt (unsettled.ts).
 */
import { base58 } from '../base/base58.ts';
import { latin1 } from '../base/bytes.ts';
import type { Clock, Journal, Log } from '../base/ports.ts';
import { createTurns } from '../base/turns.ts';
import { createScriptTime } from '../chain/script-time.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { refusalFrom } from '../codec/refusal.ts';
import { allGood } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import { decodeTx } from '../tx/tx-bytes.ts';
import type { Admission } from './admission.ts';
import { PoolEntry, textsOf } from './entry.ts';
import type { PoolChain } from './pool-chain.ts';
import type { Entries } from './pool-entries.ts';
import { NOTHING_SPENT } from './spending.ts';
import type { Unsettled } from './unsettled.ts';

export interface RecoveryPorts {
  readonly scheme: ChainScheme;
  readonly state: Pick<PoolChain, 'isMined'>;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  readonly entries: Entries;
  readonly unsettled: Unsettled;
  readonly admission: Pick<Admission, 'acceptAgain'>;
}

export async function recoverEntries(ports: RecoveryPorts): Promise<void> {
  const { journal, entries, unsettled } = ports;
  const { accepted, refused } = await acceptAll(ports);
  let kept = accepted;
  // The end may have come in the middle of a reorganisation, and then they build on one another.
  if (refused.length > 0) for (const entry of entries.all()) unsettled.putLast(entry);
  for (const tx of refused) {
    if (entries.get(latin1(tx.id)) !== undefined) continue;
    const entry = new PoolEntry(tx, textsOf(tx), allGood(tx), NOTHING_SPENT, false);
    entries.put(entry);
    unsettled.putLast(entry);
    kept++;
  }
  if (kept !== journal.recovered.length) {
    await journal.rewrite(Array.from(entries.all(), ({ bytes }) => bytes));
  }
}

/**
 * Returns the number of transactions that the head accepts, and those that it refuses, or for whose
 * scripts no time is left.
 */
async function acceptAll(ports: RecoveryPorts): Promise<{ accepted: number; refused: Tx[] }> {
  const { state, journal, clock, entries, admission } = ports;
  const refused: Tx[] = [];
  let accepted = 0;
  const turns = createTurns(clock);
  const scriptTime = createScriptTime(clock);
  for (const record of journal.recovered) {
    const tx = readRecord(record, ports);
    if (tx === undefined) continue;
    if (turns.due()) await turns.take();
    // Most of it, since the journal is trimmed now and then only.
    if (entries.get(latin1(tx.id)) !== undefined || state.isMined(tx.id)) continue;
    try {
      scriptTime.begin();
      entries.announce(admission.acceptAgain(tx, scriptTime));
      accepted++;
    } catch (error) {
      // Throws what is a fault of this node.
      refusalFrom(error);
      refused.push(tx);
    }
  }
  return { accepted, refused };
}

/** A record of another release may not decode. The log says so, since it was acknowledged. */
function readRecord(
  record: Uint8Array,
  { scheme, log }: Pick<RecoveryPorts, 'scheme' | 'log'>,
): Tx | undefined {
  try {
    return decodeTx(record, scheme);
  } catch (cause) {
    const why = refusalFrom(cause).message;
    log.error('pool.record-skipped', { hash: base58.encode(scheme.fastHash(record)), why });
    return undefined;
  }
}
