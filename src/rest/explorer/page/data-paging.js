/** A list of which a page may end before its first row: what no index knows is looked for in portions. */
import { link } from './dom.js';

/** What a page without a row says; `next` is that of `ask`. */
export const emptyNote = (next) =>
  next === undefined
    ? 'Nothing is found.'
    : 'Nothing is found so far, and not all has been looked through.';

export const nextLink = ({ value, next }, target) =>
  next === undefined
    ? undefined
    : link(target(next), value.length === 0 ? 'Look further' : 'Next page', { rel: 'next' });
