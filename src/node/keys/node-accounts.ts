/**
 * The accounts as which a node acts: its owner, and the one by which other nodes know it. Their keys are in this
 * process, or with a signer.
 */
import { assert } from '../../base/assert.ts';
import { StartError } from '../../base/faults/start-error.ts';
import type { SignedKind, SigningAccount } from '../../base/signer/signing.ts';
import type { Config } from '../config/settings.ts';
import type { NodePorts } from '../node-ports.ts';

export interface NodeAccount extends Pick<SigningAccount, 'address' | 'publicKey'> {
  /** What signs bytes of one kind with its key. */
  as(kind: SignedKind): SigningAccount;
}

export interface NodeAccounts {
  readonly owner: NodeAccount;
  /** Of privacy.owner-address. */
  readonly identity: NodeAccount;
}

/** Throws StartError where the signer does not have the keys. */
export function nodeAccounts(config: Config, ports: NodePorts): NodeAccounts {
  const { scheme, keyHolder, ownerKey, identityKey } = ports;
  if (keyHolder === undefined) {
    assert(ownerKey !== undefined, 'a node without a signer has the key of its owner');
    const owner = accountWith(ownerKey, ports);
    return { owner, identity: identityKey === undefined ? owner : accountWith(identityKey, ports) };
  }
  const held = (key: string, text: string): NodeAccount => {
    const address = scheme.addressFromText(text);
    const publicKey = keyHolder.publicKeyOf(address);
    if (publicKey === undefined) {
      const remedy = `let the signer have the key of ${text}, or correct ${key}`;
      throw new StartError('signer', 'signer', `it does not have the key of ${key}`, remedy);
    }
    return {
      address,
      publicKey,
      as: (kind) => ({
        address,
        publicKey,
        sign: (message) => keyHolder.sign(kind, address, message),
      }),
    };
  };
  return {
    owner: held('owner-address', config.ownerAddress),
    identity: held('privacy.owner-address', config.privacy.ownerAddress),
  };
}

function accountWith(
  privateKey: Uint8Array,
  { scheme, family, random }: Pick<NodePorts, 'scheme' | 'family' | 'random'>,
): NodeAccount {
  const publicKey = family.publicKeyOf(privateKey);
  const sign = (message: Uint8Array) => family.sign(privateKey, message, random);
  const account = { address: scheme.addressOf(publicKey), publicKey, sign };
  return { ...account, as: () => account };
}
