/** A store on which some statements take very long: those with the text `slowly` among their values. */
import type { Database } from '../../src/base/database.ts';

const ENDLESS = 'SELECT count(*) FROM generate_series(1, 1000000000000)';

export const slowly = (db: Database): Database => ({
  ...db,
  query(sql, values = [], signal) {
    const isSlow = values.includes('%slowly%') || values.includes('slowly');
    if (!isSlow || sql.startsWith('EXPLAIN')) return db.query(sql, values, signal);
    // A statement without work would not keep the other store busy, and this one needs no work.
    const instead = db.engine === 'pglite' ? ENDLESS : 'SELECT pg_sleep(600)';
    return db.query(instead, [], signal);
  },
});
