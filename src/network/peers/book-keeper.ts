/**
 * Saves the address book at intervals, and keeps the IP addresses of configured hosts up to date.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Network } from '../../base/ports/network.ts';
import { every } from '../../concurrency/interval.ts';
import type { AddressBook } from './address-book.ts';

export interface BookKeeperPorts {
  readonly book: Pick<AddressBook, 'locate' | 'save'>;
  readonly network: Pick<Network, 'resolve'>;
  readonly clock: Clock;
  readonly log: Log;
}

const SAVE_MS = 300_000;

export interface BookKeeper {
  start(): void;
  /** Saves the book for the last time. */
  stop(): void;
}

/** `hosts`: those of the configuration. */
export function createBookKeeper(hosts: readonly string[], ports: BookKeeperPorts): BookKeeper {
  const { book, network, clock, log } = ports;
  let cancel = (): void => {};

  function locateAll(): void {
    for (const host of hosts) void locate(host);
  }

  /** The node recognises a configured host by its IP address, which may change. */
  async function locate(host: string): Promise<void> {
    try {
      book.locate(host, await network.resolve(host));
    } catch (cause) {
      log.debug('peer.unknown-host', { host, why: (cause as Error).message });
    }
  }

  function save(): void {
    try {
      book.save();
    } catch (cause) {
      log.warn('peers.not-saved', { why: (cause as Error).message });
    }
  }

  return {
    start() {
      cancel = every(clock, SAVE_MS, () => {
        save();
        locateAll();
      });
      locateAll();
    },
    stop() {
      cancel();
      save();
    },
  };
}
