/**
 * Fetches an announced block from the first peer that has it; a peer that announced it without
 * having it is penalised.
 */
import { Refusal } from '../../base/errors.ts';
import { Misconduct, misconduct } from '../../base/faults/misconduct.ts';
import { isOwnFault } from '../../base/faults/own-fault.ts';
import type { Log } from '../../base/ports/log.ts';
import { CodecError } from '../../codec/codec.ts';
import type { CompactBlock } from '../messages/block-messages.ts';
import type { Session, Sessions } from '../sessions/session.ts';
import type { Rebuild, Rebuilt } from './rebuild-block.ts';

export interface FetchBlockPorts {
  readonly rebuild: Rebuild;
  readonly sessions: Sessions;
  readonly log: Log;
}

/** More sources may be added while it is asking. */
export async function fetchBlock(
  compact: CompactBlock,
  sources: readonly Session[],
  { rebuild, sessions, log }: FetchBlockPorts,
): Promise<Rebuilt | undefined> {
  for (let i = 0; i < sources.length; i++) {
    const session = sources[i]!;
    try {
      const found = await rebuild.from(compact, session);
      if (found !== undefined) return found;
      session.offend('withheld', misconduct('a block that was announced'));
    } catch (error) {
      if (isOwnFault(error)) throw error;
      if (error instanceof CodecError || error instanceof Refusal) {
        session.offend('malformed-message', error);
      } else if (error instanceof Misconduct && sessions.of(session.owner) === session) {
        session.offend('withheld', error);
      }
      log.debug('block.fetch-failed', { peer: session.nodeName, why: String(error) });
    }
  }
  return undefined;
}
