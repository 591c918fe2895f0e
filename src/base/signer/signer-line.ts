/** A connection between a node and its signer, as bytes; adapters/signer has the sockets. */
export interface Line {
  /** Bytes that were sent and that the other side has not taken. */
  waitingBytes(): number;
  send(bytes: Uint8Array): void;
  close(): void;
}

export interface LineEvents {
  readonly data: (chunk: Uint8Array) => void;
  /** Called once, also where the connection never came about. */
  readonly closed: (why: string) => void;
}
