/** Small named files that are replaced atomically (keystore, peers). */
export interface Files {
  read(path: string): Uint8Array | undefined;
  /** tmp → fsync → rename; a new file has mode 0600 when `secret`. */
  replace(path: string, bytes: Uint8Array, options?: { secret?: boolean }): void;
}

/** The disk of the node's data. */
export interface DiskSpace {
  /** Bytes that this process may still write. */
  freeBytes(): Promise<number>;
}
