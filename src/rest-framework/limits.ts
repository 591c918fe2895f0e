/** What a route may cost that declares nothing else, and how long a JSON body may be. */
import { MIB } from '../base/limits/budget.ts';

export const limits = {
  body: {
    /** Bytes; above it: 400/611. */
    json: MIB,
    /** Values in the JSON of a body, including lists and objects; above it: 400/10. */
    values: 50_000,
  },
  /** Bytes of an answer. */
  answer: 16 * MIB,
  /** Rows of the store that an ordinary route reads. */
  rows: 1000,
} as const;
