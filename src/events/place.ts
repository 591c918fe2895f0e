/**
 * Places in a chain. The text of a place is the id of an event, with which a client goes on after an
 * interruption. It names the block and some of those before it, in steps that grow: so every node,
 * also after a restart, finds the last of them that its own chain has (a block locator). Nothing has
 * to be kept for clients that are away.
 */
import { equal } from '../base/bytes.ts';
import { headerRowAt } from '../chain/store/stored-blocks.ts';
import type { LedgerView } from '../ledger/ledger.ts';

export interface Place {
  /** 0: before the first block. */
  readonly height: number;
  /** Of the block at this height; empty at height 0. */
  readonly id: Uint8Array;
  /** By which the block, or one before it, is found again. */
  readonly marks: string;
  /** All events of the block up to this one are known; `BLOCK_STEP`: all of them. */
  readonly step: number;
  /** All confidential data up to the one that came with this number are known. */
  readonly arrival: number;
}

/** More than a transaction has results of contracts, or a block transactions. */
const STEPS = 65_536;

/** A transaction is the event 0 of its index; what contracts have written for it follows. */
export const stepOf = (index: number, result = 0): number => STEPS * index + result;
export const indexOf = (step: number): number => Math.floor(step / STEPS);
/** 0: the transaction itself. */
export const resultOf = (step: number): number => step % STEPS;
export const BLOCK_STEP = STEPS * STEPS;

const NO_BLOCK = new Uint8Array(0);
export const beforeAll = (arrival: number): Place => ({
  height: 0,
  id: NO_BLOCK,
  marks: '',
  step: BLOCK_STEP,
  arrival,
});

/** How far the named blocks are below the place; the first block ends them, which all chains have. */
const DISTANCES = [0, 1, 4, 16, 64, 256, 1024, 4096];
/**
 * The first bytes of the hash of a block id. The id is a signature, whose first bytes are the choice
 * of the miner: it could give them to two blocks, and hide that one has replaced the other. There are
 * so many that no miner finds two blocks with the same ones in its turn.
 */
const MARK_BYTES = 12;
const MARK_CHARS = 16;
const MARKS_CHARS_MAX = MARK_CHARS * DISTANCES.length;

function markOf(id: Uint8Array, { scheme }: LedgerView): string {
  const hash = scheme.fastHash(id);
  return Buffer.from(hash.buffer, hash.byteOffset, MARK_BYTES).toString('base64url');
}

const idAt = (view: LedgerView, height: number): Uint8Array | undefined =>
  headerRowAt(view, height)?.header.signature;

/** True where the chain has the block of this place. */
export function isInChain(view: LedgerView, { height, id }: Pick<Place, 'height' | 'id'>): boolean {
  const own = height === 0 ? NO_BLOCK : idAt(view, height);
  return own !== undefined && equal(own, id);
}

/** The place behind all events of the block at this height; undefined above the last block. */
export function endOf(view: LedgerView, height: number, arrival: number): Place | undefined {
  if (height === 0) return beforeAll(arrival);
  const id = idAt(view, height);
  if (id === undefined) return undefined;
  return { height, id: id.slice(), marks: marksAt(view, height), step: BLOCK_STEP, arrival };
}

/** The chain must have all blocks up to this height. */
function marksAt(view: LedgerView, height: number): string {
  let marks = '';
  for (const distance of DISTANCES) {
    const named = Math.max(1, height - distance);
    marks += markOf(idAt(view, named)!, view);
    if (named === 1) break;
  }
  return marks;
}

export const placeText = ({ height, step, arrival, marks }: Place): string =>
  `${height}.${step === BLOCK_STEP ? 'b' : step}.${arrival}.${marks}`;

/** A place as a client names it; its blocks may be in this chain or not. */
export interface NamedPlace extends Omit<Place, 'id'> {}

/** What keys of blocks can hold. */
const HEIGHT_MAX = 0xffff_ffff;
/** A number of 15 digits is exact. */
const TEXT = /^(\d{1,10})\.(b|\d{1,10})\.(\d{1,15})\.([\w-]*)$/;

/** Undefined for a text that is no place. */
export function readPlace(text: string): NamedPlace | undefined {
  const [, height, step, arrival, marks = ''] = TEXT.exec(text) ?? [];
  const isWhole = marks.length % MARK_CHARS === 0 && marks.length <= MARKS_CHARS_MAX;
  if (height === undefined || !isWhole || Number(height) > HEIGHT_MAX) return undefined;
  // Nothing would ever be behind such a step.
  if (Number(step) > BLOCK_STEP) return undefined;
  return {
    height: Number(height),
    step: step === 'b' ? BLOCK_STEP : Number(step),
    arrival: Number(arrival),
    marks,
  };
}

/**
 * The named place, or the end of the last named block that this chain has. Undefined where it has
 * none of them.
 */
export function placeIn(view: LedgerView, named: NamedPlace): Place | undefined {
  const { height, step, arrival, marks } = named;
  if (height === 0) return beforeAll(arrival);
  for (const [i, distance] of DISTANCES.entries()) {
    const mark = marks.slice(i * MARK_CHARS, (i + 1) * MARK_CHARS);
    if (mark === '') return undefined;
    const end = endOf(view, Math.max(1, height - distance), arrival);
    if (end !== undefined && markOf(end.id, view) === mark) return i === 0 ? { ...end, step } : end;
  }
  return undefined;
}
