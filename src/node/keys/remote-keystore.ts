/** The accounts whose keys a signer holds, as the keystore of a node. What needs a private key itself is refused. */
import { apiError } from '../../base/errors.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { Keystore } from '../../keystore/keystore.ts';
import { KeystoreError } from '../../keystore/keystore-errors.ts';
import type { RemoteKeys } from '../../signer/remote-keys.ts';

type Keys = Pick<RemoteKeys, 'publicKeys' | 'publicKeyOf' | 'sign' | 'refresh'>;

export function remoteKeystore(keys: Keys, scheme: ChainScheme): Keystore {
  const refused = async (): Promise<never> => {
    throw new KeystoreError('the keys are with the signer: change them there');
  };
  const accounts = () =>
    keys.publicKeys().map((publicKey) => ({
      address: scheme.addressOf(publicKey),
      publicKey,
      // The signer says so when it is asked.
      password: false,
    }));
  return {
    accounts,
    addresses: () => accounts().map(({ address }) => scheme.addressToText(address)),
    publicKey: (address) => keys.publicKeyOf(address),
    privateKey: refused,
    requestKey() {
      throw apiError('MissingSenderPrivateKey');
    },
    sign: (address, password, message, kind = 'text') =>
      keys.sign(kind, address, message, password),
    add: refused,
    changeAccountPassword: refused,
    reload: () => keys.refresh(),
    // The connection to the signer ends by itself.
    close: () => undefined,
  };
}
