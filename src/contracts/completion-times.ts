/**
 * How long the last blocks of this node took from the end of their contract part until they were in
 * the chain: on a busy machine the part ends late, and signing and writing take their time too. The
 * part of the next block ends earlier by what they took more than usual (phase-length.ts).
 */
import { roundLimits as limits } from '../base/limits/round-limits.ts';

export interface CompletionTimes {
  add(ms: number): void;
  /** Of the last few blocks; 0 before the first one. */
  longest(): number;
}

/** Blocks of this node; one of its rounds that was slow is forgotten after so many others. */
const REMEMBERED = limits.completionBlocks.value;

export function createCompletionTimes(): CompletionTimes {
  const times: number[] = [];
  return {
    add(ms) {
      times.push(ms);
      if (times.length > REMEMBERED) times.shift();
    },
    longest: () => Math.max(0, ...times),
  };
}
