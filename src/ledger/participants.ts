/** Registered nodes, in the order of their registration (types 110 and 111). */
import { listInSteps, sortInSteps } from '../base/turns.ts';
import { END_OF_TABLE, START_OF_TABLE } from './key-codecs.ts';
import type { Ledger, LedgerView } from './ledger.ts';
import { participants } from './tables.ts';

export interface Participant {
  readonly publicKey: Uint8Array;
  readonly nodeName: string;
  /** Height of the registration. */
  readonly height: number;
  /** Grows with every registration. */
  readonly order: number;
}

const PARTICIPANTS_MAX = 1_000_000;

const rows = (view: LedgerView, limit = PARTICIPANTS_MAX) =>
  view.range(participants, START_OF_TABLE, END_OF_TABLE, limit);

export const participantOf = (view: LedgerView, address: Uint8Array): Participant | undefined =>
  view.get(participants, address);

export const isParticipant = (view: LedgerView, address: Uint8Array): boolean =>
  view.get(participants, address) !== undefined;

/** Work in steps. */
export function* participantsInOrder(
  view: LedgerView,
): Generator<undefined, readonly (readonly [address: Uint8Array, Participant])[]> {
  const all = yield* listInSteps(rows(view));
  return yield* sortInSteps(all, ([, a], [, b]) => a.order - b.order);
}

/** Registrations and removals are rare, so all participants are read to find the next number. */
export function addParticipant(ledger: Ledger, participant: Omit<Participant, 'order'>): void {
  let order = 0;
  for (const [, other] of rows(ledger)) order = Math.max(order, other.order + 1);
  const address = ledger.scheme.addressOf(participant.publicKey);
  ledger.set(participants, address, { ...participant, order });
}

export function removeParticipant(ledger: Ledger, address: Uint8Array): void {
  ledger.remove(participants, address);
}

export const isLastParticipant = (view: LedgerView): boolean => [...rows(view, 2)].length < 2;
