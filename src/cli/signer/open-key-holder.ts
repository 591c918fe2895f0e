/** The connection of a node to the signer that has its keys, where its configuration names one. */
import { readFileSync } from 'node:fs';
import { type SignerPlace, signerConnector } from '../../adapters/signer/signer-socket.ts';
import { StartError } from '../../base/faults/start-error.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Block } from '../../block/block.ts';
import { headerHash } from '../../block/header.ts';
import { consensusHash } from '../../consensus/settings-hash.ts';
import { networkSettings } from '../../node/config/genesis-section.ts';
import type { Config } from '../../node/config/settings.ts';
import { RemoteKeys } from '../../signer/remote-keys.ts';
import { cryptographyOfConfig } from '../cryptography.ts';

/** Undefined where the node has its keys itself. Throws StartError. */
export async function openKeyHolder(
  config: Config,
  genesis: Block,
  ports: { readonly clock: Clock; readonly log: Log },
): Promise<RemoteKeys | undefined> {
  const place = signerPlace(config);
  if (place === undefined) return undefined;
  const { scheme } = cryptographyOfConfig(config);
  const keys = new RemoteKeys(
    {
      genesis: headerHash(genesis.header, scheme),
      consensus: consensusHash(networkSettings(config), scheme.fastHash),
      timeoutMs: config.signer.timeout.ms,
    },
    { ...ports, scheme, connect: signerConnector(place) },
  );
  try {
    await keys.start();
    return keys;
  } catch (cause) {
    const remedy = 'start it first: platform-node signer; it says what it refuses';
    throw new StartError('signer', 'signer', cause, remedy);
  }
}

/** Where a signer listens, and its node connects. Throws StartError where a file cannot be read. */
export function signerPlace({ signer }: Config): SignerPlace | undefined {
  const { socket, host, port, tls } = signer;
  if (host === undefined) return socket === undefined ? undefined : { socket };
  const read = (name: 'cert' | 'key' | 'ca'): Uint8Array => {
    try {
      return readFileSync(tls[name] ?? '');
    } catch (cause) {
      const remedy = 'name a PEM file that the user of this process may read';
      throw new StartError('signer', `signer.tls.${name}`, cause, remedy);
    }
  };
  return { host, port, tls: { cert: read('cert'), key: read('key'), ca: read('ca') } };
}
