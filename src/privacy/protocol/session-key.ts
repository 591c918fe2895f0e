/**
 * The key of one transfer. Only the two nodes know it, and both forget it with the transfer
 * (privacy-messages.ts).
 */

import { concat } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { PrivateStore } from '../../base/ports/private-store.ts';
import type { Random } from '../../base/ports/random.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import type { SigningAccount } from '../../base/signer/signing.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { CryptoFamily } from '../../crypto/family.ts';
import { streamKey } from '../../crypto/stream-cipher.ts';
import type { KeyedView } from '../../ledger/committed-view.ts';
import { PURPOSE } from './privacy-messages.ts';

/** What both sides of a transfer need. */
export interface TransferPorts {
  readonly view: KeyedView;
  readonly store: PrivateStore;
  readonly scheme: ChainScheme;
  readonly family: Pick<CryptoFamily, 'generateKeyPair' | 'agree' | 'sealPiece' | 'openPiece'>;
  readonly verifier: Pick<Verifier, 'verifyOne'>;
  readonly clock: Clock;
  readonly random: Random;
  /** The owner of this node, under the key that the network knows. */
  readonly owner: Pick<SigningAccount, 'address' | 'sign'>;
}

/** Throws CryptoError for an ephemeral key with which no secret can be shared. */
export function transferKey(
  family: Pick<CryptoFamily, 'agree'>,
  ownPrivateKey: Uint8Array,
  otherKey: Uint8Array,
  /** The asking node's key, then the answering node's. */
  ephemeralKeys: readonly [Uint8Array, Uint8Array],
): Uint8Array {
  const secret = family.agree(ownPrivateKey, otherKey);
  const key = streamKey(secret, concat(...ephemeralKeys), PURPOSE);
  secret.fill(0);
  ownPrivateKey.fill(0);
  return key;
}
