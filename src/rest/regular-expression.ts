/**
 * The engine of key-filter.ts, which loads this file when it first needs it: that takes 30 ms, and
 * most nodes never do. A bundle joins a package that a source imports, and no other one.
 */
export { RE2JS } from 're2js';
