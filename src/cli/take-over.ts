/**
 * What a running node takes over from its configuration on SIGHUP: the keys of the REST interface,
 * the password of the wallet and its accounts, and the certificate. Each part is taken whole, or the
 * old one stays and the log says why.
 */
import type { Log } from '../base/ports/log.ts';
import { Mutex } from '../concurrency/mutex.ts';
import { keySettings } from '../node/api-settings.ts';
import { changedSettings } from '../node/config/document.ts';
import type { Config } from '../node/config/settings.ts';
import type { Node } from '../node/node.ts';

/** Settings that need no restart. */
const TAKEN: readonly string[] = [
  'rest-api.api-key-hash',
  'rest-api.privacy-api-key-hash',
  'rest-api.api-keys',
  'wallet.password',
];

/** The configuration in use; `read` rejects where that on disk is wrong, and then the old one stays. */
export class TakenOver {
  private config: Config;
  private readonly read: () => Promise<Config>;
  private readonly log: Log;
  private readonly turn = new Mutex();

  constructor(config: Config, read: () => Promise<Config>, log: Log) {
    this.config = config;
    this.read = read;
    this.log = log;
  }

  /** One after the other, so that what was read last is what stays. */
  reload(node: Pick<Node, 'services' | 'rest'>): Promise<void> {
    return this.turn.run(() => this.takeOver(node));
  }

  private async takeOver({ services, rest }: Pick<Node, 'services' | 'rest'>): Promise<void> {
    const config = await this.read().catch((cause: Error) => {
      this.log.error('settings.reload-failed', { why: cause.message });
    });
    if (config !== undefined) {
      const keys = keySettings(config);
      services.keys.replace(keys);
      rest?.renew?.(keys);
      const changed = changedSettings(this.config, config);
      const left = changed.filter((key) => !TAKEN.includes(key));
      if (left.length > 0) this.log.warn('settings.need-restart', { settings: left });
      this.config = config;
      // It reports its errors itself.
      await services.keystore.reload(config.wallet.password).catch(() => undefined);
      const taken = changed.filter((key) => TAKEN.includes(key));
      this.log.info('settings.reloaded', { changed: taken });
    }
    await rest?.reload().catch((cause: Error) => {
      this.log.error('tls.reload-failed', { why: cause.message });
    });
  }
}
