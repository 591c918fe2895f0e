/** Registered nodes, in the order of their registration (types 110 and 111). */
import { listInSteps, sortInSteps } from '../concurrency/steps.ts';
import { END_OF_TABLE, START_OF_TABLE } from './key-codecs.ts';
import type { Ledger, LedgerView } from './ledger.ts';
import { nextOrder, PARTICIPANTS, participants, rollSizes } from './tables.ts';

export interface Participant {
  readonly publicKey: Uint8Array;
  readonly nodeName: string;
  /** Height of the registration. */
  readonly height: number;
  /** Grows with every registration. */
  readonly order: number;
}

/** The most participants of a network with feature 1002. */
export const PARTICIPANTS_MAX = 10_000;

const ROWS_MAX = 1_000_000;

const rows = (view: LedgerView, limit = ROWS_MAX) =>
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

/** All participants in two numbers (feature 1002). */
export interface Roll {
  readonly size: number;
  /** The order number of the next one. */
  readonly next: number;
}

/** Two rows hold the roll; before they are written, this reads all participants. */
export function rollOf(view: LedgerView): Roll {
  const size = view.get(rollSizes, PARTICIPANTS);
  const next = view.get(nextOrder, 0);
  return size === undefined || next === undefined ? readRoll(view) : { size, next };
}

function readRoll(view: LedgerView): Roll {
  let size = 0;
  let next = 0;
  for (const [, { order }] of rows(view)) {
    size += 1;
    next = Math.max(next, order + 1);
  }
  return { size, next };
}

/** With `roll`, as it was before, two rows hold the roll from now on; without it, this reads all participants. */
export function addParticipant(
  ledger: Ledger,
  participant: Omit<Participant, 'order'>,
  roll?: Roll,
): void {
  const { size, next: order } = roll ?? readRoll(ledger);
  const address = ledger.scheme.addressOf(participant.publicKey);
  ledger.set(participants, address, { ...participant, order });
  if (roll !== undefined) writeRoll(ledger, { size: size + 1, next: order + 1 });
}

/** The same as with `addParticipant`. */
export function removeParticipant(ledger: Ledger, address: Uint8Array, roll?: Roll): void {
  ledger.remove(participants, address);
  if (roll !== undefined) writeRoll(ledger, { size: roll.size - 1, next: roll.next });
}

function writeRoll(ledger: Ledger, { size, next }: Roll): void {
  ledger.set(rollSizes, PARTICIPANTS, size);
  ledger.set(nextOrder, 0, next);
}

export const isLastParticipant = (view: LedgerView): boolean => [...rows(view, 2)].length < 2;
