/** Stores on which some statements take very long: those with the text `slowly` among their values. */
import { type Database, DatabaseError } from '../../src/base/ports/database.ts';

/** Seconds of work, and yet with an end, so that a test in which nothing ends it fails. */
const LONG = 'SELECT count(*) FROM generate_series(1, 30000000)';

const isSlow = (sql: string, values: readonly unknown[]): boolean =>
  !sql.startsWith('EXPLAIN') && (values.includes('%slowly%') || values.includes('slowly'));

/** `begins` is called with each of them. */
export const slowly = (db: Database, begins = (): void => {}): Database => ({
  ...db,
  query(sql, values = [], signal) {
    if (!isSlow(sql, values)) return db.query(sql, values, signal);
    begins();
    // A statement without work would not keep the other store busy, and this one needs no work.
    const instead = db.engine === 'pglite' ? LONG : 'SELECT pg_sleep(600)';
    return db.query(instead, [], signal);
  },
});

/** They keep nothing busy, and end only with their signal. */
export const waiting = (db: Database, begins = (): void => {}): Database => ({
  ...db,
  query(sql, values = [], signal) {
    if (!isSlow(sql, values)) return db.query(sql, values, signal);
    begins();
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(new DatabaseError('timeout', 'it was ended')));
    });
  },
});
