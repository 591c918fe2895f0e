/** Messages between a PGlite and its thread. */
import type { SqlValue } from '../../base/ports/database.ts';

/** The package's own files, read and compiled once for all threads of this process. */
export interface PgliteProgram {
  readonly module: WebAssemblyModule;
  readonly files: Blob;
}

export interface PgliteData {
  readonly program: PgliteProgram;
  /** Undefined: in memory. */
  readonly folder: string | undefined;
  /** A new store begins with these files (tar) instead of those that initdb makes. */
  readonly initial: Blob | undefined;
}

export type PgliteCommand =
  | { readonly kind: 'query'; readonly sql: string; readonly values: readonly SqlValue[] }
  | { readonly kind: 'exec'; readonly sql: string }
  | { readonly kind: 'copy'; readonly sql: string; readonly rows: Uint8Array }
  | { readonly kind: 'listen'; readonly channel: string }
  | { readonly kind: 'close' };

export interface ToPglite {
  readonly id: number;
  readonly command: PgliteCommand;
}

interface Cause {
  readonly code: string;
  readonly message: string;
}

export type FromPglite =
  | { readonly kind: 'open' }
  | ({ readonly kind: 'unusable' } & Cause)
  | { readonly kind: 'done'; readonly id: number; readonly rows: readonly object[] }
  | ({ readonly kind: 'failed'; readonly id: number } & Cause)
  | { readonly kind: 'heard'; readonly channel: string };
