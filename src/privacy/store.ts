/**
 * The port of the stores lives in base, where adapters may see it; here it is at hand for the rest
 * of this folder.
 */
export * from '../base/private-store.ts';
