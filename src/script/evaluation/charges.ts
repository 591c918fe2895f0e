/**
 * What the parts of a run charge (docs/protocol/scripts.md#metering). The charge of each function
 * stands beside it (functions.ts), those of the cryptography with each family. A unit is about 25
 * nanoseconds (bench/measure/script-units.ts).
 *
 * Invariant: a charge depends on values and sizes alone, never on what the node has cached.
 */
import { type Charge, type CryptoCharges, unitsOf } from '../../base/charge.ts';
import { type CaseObject, isBytes, isList, type Value } from '../language/values.ts';
import type { FoundTransaction } from './environment.ts';
import { COMPARISON_CHARGE, PAIR_UNITS } from './equality.ts';

/** Every evaluated node. */
export const NODE_UNITS = 1;

/** Decoding the script, by its bytes. */
export const SCRIPT_CHARGE: Charge = { fixed: 0, per: 2, each: 1 };

/** A step of the estimator. */
export const STEP_UNITS = 3;

/** Before a script comes into the state: its checksum, its tree, and the estimate. */
export const readingUnits = (
  { bytes, steps }: { readonly bytes: Uint8Array; readonly steps: number },
  { hash }: CryptoCharges,
): number =>
  unitsOf(hash, bytes.length) + unitsOf(SCRIPT_CHARGE, bytes.length) + steps * STEP_UNITS;

/** A row of the state. */
export const ROW_UNITS = 400;
/** A key that is looked for, by its code units. */
const KEY_CHARGE: Charge = { fixed: 0, per: 1, each: 16 };
/** A value that is read: a text by its code units, a byte string by its bytes. */
export const TEXT_CHARGE: Charge = { fixed: 0, per: 1, each: 2 };
export const BYTES_CHARGE: Charge = { fixed: 0, per: 1, each: 64 };

/** The bytes of a transaction that is looked up, beside their hash. */
export const DECODED_CHARGE: Charge = { fixed: 0, per: 1, each: 6 };
/** The record of a transaction or an order, beside its addresses. */
export const RECORD_UNITS = 200;
export const RECORD_ADDRESSES = 4;
/** An element of a list. */
export const ELEMENT_UNITS = 20;

/** An address is made with two hashes of few bytes, and checked with one. */
export const ADDRESS_HASHES = 2;
export const SHORT_BYTES = 64;
/** The text of an address, beside the address itself. */
const ADDRESS_TEXT_UNITS = 100;

const addressUnits = ({ hash }: CryptoCharges): number =>
  ADDRESS_HASHES * unitsOf(hash, SHORT_BYTES);

/** Before the record is made. */
export const recordUnits = (charges: CryptoCharges): number =>
  RECORD_UNITS + RECORD_ADDRESSES * addressUnits(charges);

/** The elements of its own lists, when it is there. */
export function elementUnits({ fields }: CaseObject): number {
  let elements = 0;
  for (const value of fields.values()) if (isList(value)) elements += value.length;
  return elements * ELEMENT_UNITS;
}

/** Before a transaction of so many bytes is read. */
export const decodedUnits = (size: number, { hash }: CryptoCharges): number =>
  unitsOf(DECODED_CHARGE, size) + unitsOf(hash, size);

/** Afterwards, since only then it is known how many elements were read. */
export const partUnits = (
  { elements, addresses }: Pick<FoundTransaction, 'elements' | 'addresses'>,
  charges: CryptoCharges,
): number => elements * ELEMENT_UNITS + addresses * addressUnits(charges);

/** Bytes, code units or elements; 0 for anything else. */
export const sizeOf = (value: Value | undefined): number =>
  typeof value === 'string' || (typeof value === 'object' && (isBytes(value) || isList(value)))
    ? value.length
    : 0;

export const contentUnits = (value: Value | undefined): number =>
  unitsOf(typeof value === 'string' ? TEXT_CHARGE : BYTES_CHARGE, sizeOf(value));

/** What a call charges besides its node. */
export interface CallCharge {
  /** As the documentation says it. */
  readonly text: string;
  /** Before the call, from its arguments. */
  readonly before: (args: readonly Value[], charges: CryptoCharges) => number;
  /** After the call, from its result. */
  readonly after?: (result: Value) => number;
}

/** The terms of a sum without those that are 0, for the documentation. */
export const sum = (...parts: readonly (string | number)[]): string =>
  parts.filter((part) => part !== 0).join(' + ');

/** Also for the documentation: pieces that have begun count. */
export const pieces = ({ per, each }: Omit<Charge, 'fixed'>, what: string): string =>
  `${per === 1 ? '' : `${per} × `}${what}${each === 1 ? '' : ` / ${each}`}`;

/** Always the same. */
export const flat = (units: number): CallCharge => ({
  text: String(units),
  before: () => units,
});

/** By the size of the first argument. */
export const byArgument = (fixed: number, per: number, each: number): CallCharge => {
  const charge: Charge = { fixed, per, each };
  return {
    text: sum(fixed, pieces(charge, 'argument')),
    before: ([first]) => unitsOf(charge, sizeOf(first)),
  };
};

/** By the size of the result, when it is there; `fixed` before. */
export const byResult = (fixed: number, per: number, each: number): CallCharge => {
  const charge: Charge = { fixed: 0, per, each };
  return {
    text: sum(fixed, pieces(charge, 'result')),
    before: () => fixed,
    after: (result) => unitsOf(charge, sizeOf(result)),
  };
};

/** Of the first argument; an address follows from it with further hashes. */
export const byHash = (more?: 'address'): CallCharge => ({
  text: sum('hash of the argument', more ?? 0),
  before: ([message], charges) =>
    unitsOf(charges.hash, sizeOf(message)) + (more === undefined ? 0 : addressUnits(charges)),
});

export const bySignature: CallCharge = {
  text: 'signature of the message',
  before: ([message], { verify }) => unitsOf(verify, sizeOf(message)),
};

/** During the comparison. */
export const ofPairs: CallCharge = {
  text: sum(`${PAIR_UNITS} × pairs`, `${pieces(COMPARISON_CHARGE, 'compared')}`),
  before: () => 0,
};

export const ofAddressText: CallCharge = {
  text: sum(ADDRESS_TEXT_UNITS, 'address'),
  before: (_args, charges) => ADDRESS_TEXT_UNITS + addressUnits(charges),
};

/** The row of its alias, and further rows. */
export const ofAccount = (rows: number): CallCharge => ({
  text: sum('address', rows === 0 ? 'row' : `${1 + rows} rows`),
  before: (_args, charges) => addressUnits(charges) + (1 + rows) * ROW_UNITS,
});

/** A row under a key; its value is charged when it is read. */
export const ofRow: CallCharge = {
  text: sum('address', '2 rows', pieces(KEY_CHARGE, 'key'), 'value'),
  before: ([, key], charges) =>
    addressUnits(charges) + 2 * ROW_UNITS + unitsOf(KEY_CHARGE, sizeOf(key)),
};

/** The rest is charged when the transaction is found. */
export const ofTransaction: CallCharge = {
  text: sum('2 rows', 'transaction'),
  before: () => 2 * ROW_UNITS,
};
