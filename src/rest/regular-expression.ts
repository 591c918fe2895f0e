/** The engine of key-filter.ts, which takes 30 ms to load, and most nodes never need it. */
export { RE2JS } from 're2js';
