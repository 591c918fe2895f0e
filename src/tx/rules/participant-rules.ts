/** Participants come and go (types 110 and 111); from feature 1002 on their number has a bound. */
import { refused } from '../../base/errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import {
  addParticipant,
  PARTICIPANTS_MAX,
  type Participant,
  removeParticipant,
  rollOf,
} from '../../ledger/participants.ts';
import type { BlockContext } from '../transaction.ts';
import { feature } from './features.ts';

/** Throws ApiError where there are too many. */
export function enrol(
  ledger: Ledger,
  participant: Omit<Participant, 'order'>,
  { features }: BlockContext,
): void {
  const roll = features.has(feature.liveness) ? rollOf(ledger) : undefined;
  if (roll !== undefined && roll.size >= PARTICIPANTS_MAX) {
    throw refused(`No more than ${PARTICIPANTS_MAX} nodes can be registered`);
  }
  addParticipant(ledger, participant, roll);
}

export function strike(ledger: Ledger, address: Uint8Array, { features }: BlockContext): void {
  removeParticipant(ledger, address, features.has(feature.liveness) ? rollOf(ledger) : undefined);
}
