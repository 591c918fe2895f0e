/**
 * libsodium. An `import` of its package searches 3,000 lines for the names of exports, in every
 * thread: 50 ms of processor time that `require` does not take.
 */
import { createRequire } from 'node:module';
import type libsodium from 'sodium-native';

export const sodium: typeof libsodium = createRequire(import.meta.url)('sodium-native');
