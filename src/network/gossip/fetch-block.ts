/**
 * Fetches an announced block from the first peer that has it; a peer that announced it without
 * having it is penalised.
 */
import { ApiError, OwnFailure } from '../../base/errors.ts';
import type { Log } from '../../base/ports.ts';
import { CodecError } from '../../codec/codec.ts';
import type { CompactBlock } from '../messages/block-messages.ts';
import { SilentLine } from '../sessions/requests.ts';
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
      session.offend('withheld', 'a block that was announced');
    } catch (error) {
      if (error instanceof OwnFailure) throw error;
      if (error instanceof CodecError || error instanceof ApiError) {
        session.offend('malformed-message', error.message);
      } else if (sessions.of(session.owner) === session && !(error instanceof SilentLine)) {
        session.offend('withheld', `a block that was announced: ${String(error)}`);
      }
      log.debug('block.fetch-failed', { peer: session.nodeName, why: String(error) });
    }
  }
  return undefined;
}
