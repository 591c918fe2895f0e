/** Opens the keys of a node. */
import type { Disposal } from '../../base/disposal.ts';
import { StartError } from '../../base/faults/start-error.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Block } from '../../block/block.ts';
import type { Keystore } from '../../keystore/keystore.ts';
import type { Config } from '../../node/config/settings.ts';
import { remoteKeystore } from '../../node/keys/remote-keystore.ts';
import type { NodePorts } from '../../node/node.ts';
import { openNodeWallet, unlockOwner } from '../commands/keystore/open-wallet.ts';
import { cryptographyOfConfig } from '../cryptography.ts';
import { openKeyHolder } from '../signer/open-key-holder.ts';
import { CliError } from '../terminal/exit.ts';

export type Accounts = Pick<NodePorts, 'keystore' | 'keyHolder' | 'ownerKey' | 'identityKey'>;

/**
 * Derives the key of the keystore in another thread, for a third of a second. Nothing where a signer
 * has the keys, or where somebody must be asked for the password: the console is for later.
 */
export function deriveEarly(config: Config, log: Log): Promise<Keystore> | undefined {
  const { signer, wallet } = config;
  const isRemote = signer.socket !== undefined || signer.host !== undefined;
  if (isRemote || wallet.password === undefined) return undefined;
  const opening = openKeys(config, log);
  // It is reported when its turn has come.
  opening.catch(() => undefined);
  return opening;
}

interface AccountsOpening {
  readonly log: Log;
  readonly started: Disposal;
  readonly clock: Clock;
  /** What `deriveEarly` has begun. */
  readonly keystore: Promise<Keystore> | undefined;
}

/** The keys of this node: its own, or those of its signer. */
export async function openAccounts(
  config: Config,
  genesis: Block,
  { log, started, clock, keystore: early }: AccountsOpening,
): Promise<Accounts> {
  const keyHolder = await openKeyHolder(config, genesis, { clock, log });
  if (keyHolder !== undefined) {
    started.add('signer', () => keyHolder.stop());
    const { scheme } = cryptographyOfConfig(config);
    return { keystore: remoteKeystore(keyHolder, scheme), keyHolder };
  }
  const keystore = await (early ?? openKeys(config, log));
  started.add('keystore', () => keystore.close());
  return { keystore, ...(await unlockOwner(config, keystore)) };
}

async function openKeys(config: Config, log: Log): Promise<Keystore> {
  try {
    return await openNodeWallet(config, log);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    const remedy = 'restore the file from its backup, or give the password with which it was made';
    throw StartError.ofFile('keystore', 'wallet.file, wallet.password', cause, remedy);
  }
}
