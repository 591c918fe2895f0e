/** Every limit of the REST API in one place (rest.md#limits-of-requests). */
import { KIB, MIB } from '../base/limits/budget.ts';
import { limits as ordinary } from '../rest-framework/limits.ts';

export const limits = {
  ...ordinary,
  /** Bytes of a request body, by kind of endpoint; above it: 400/611. */
  body: {
    ...ordinary.body,
    sendData: 28 * MIB,
    encrypt: 165 * KIB,
    /** Accepts every result of `encrypt`, which is a third longer than its input. */
    decrypt: 256 * KIB,
    script: 64 * KIB,
  },
  /** Bytes of an answer with confidential data as Base64. */
  dataAnswer: 28 * MIB,
  /** Bytes of all such answers that are being made, or were made a moment ago and are not taken yet. */
  dataAnswers: 64 * MIB,
  /** Rows that a list may read or skip. */
  listRows: 100_000,
  /** Entries of an account or a contract that one call may skip or list. */
  entryRows: 1_000_000,
  /** Blocks or headers of one call. */
  blockRange: 100,
  /** Blocks over which a lowest balance is calculated; each may cost one row. */
  confirmations: 100_000,
  /** Addresses of one POST, and the range of /addresses/seq. */
  addresses: 1000,
  contractIds: 100,
  contractKeys: 100,
  /** Versions, calls or failures of a contract in one answer. */
  contractHistory: 100,
  peers: 1000,
  /** Characters of the proofs of final blocks in one answer. */
  proofChars: 2 * MIB,
  /** Values of a filter of events; the head of a request has less room. */
  eventValues: 100,
  seedBytes: 1024,
  /** Characters of a message that is or becomes Base58, which takes quadratic time. */
  base58Message: 64 * KIB,
  encryption: {
    recipients: 1000,
    /** Bytes of text over all recipients, where each gets its own ciphertext. */
    separateBytes: 8 * MIB,
  },
  /** Validated addresses that stay decoded in a cache. */
  knownAddresses: 65_536,
} as const;
