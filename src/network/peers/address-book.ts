/**
 * The addresses of nodes (network.md#addresses-of-nodes).
 *
 *   configured   from known-peers; never forgotten, but hidden while the chain says that the owner
 *                who was met there is no member (known-places.ts)
 *   learned      a handshake has succeeded there; forgotten a day after the last message
 *   candidate    announced by a peer; at most 100, the oldest are dropped, and any after a failed dial
 *
 * The file holds all configured and learned addresses that are not hidden.
 */
import type { Clock, Files, Log, Random } from '../../base/ports.ts';
import { addressText, isAnyLocal, isLoopback, type PeerAddress } from '../messages/peer-address.ts';
import { addressesIn, addressFile } from './address-file.ts';
import { CandidatePlaces } from './candidate-places.ts';
import { type KnownPlace, KnownPlaces, LEARNED_MAX } from './known-places.ts';

export interface AddressBookOptions {
  readonly configured: readonly PeerAddress[];
  readonly residenceMs: number;
  /** Undefined: no addresses are kept across restarts. */
  readonly file: string | undefined;
}

export interface AddressBookPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files: Files | undefined;
}

export interface AddressBook {
  known(): readonly KnownPlace[];
  candidates(): readonly PeerAddress[];
  isConfigured(owner: Uint8Array | undefined, host: string): boolean;
  /** Adds addresses that a peer announced; `urgent` ones are dialled first. */
  offer(addresses: readonly PeerAddress[], urgent: boolean): void;
  /** A handshake with this owner has succeeded there. */
  confirm(address: PeerAddress, owner: Uint8Array): void;
  /**
   * A node at this address claims this owner. For a while the address is not dialled as long as that
   * owner has a session, or is no member.
   */
  suspect(address: PeerAddress, owner: Uint8Array): void;
  /** The IP address of a configured host. */
  locate(host: string, digits: string): void;
  /** A dial has failed. */
  fail(address: PeerAddress): void;
  /** A message of this owner has arrived. */
  touch(owner: Uint8Array): void;
  /** Hides the addresses of owners that are no members, and shows those of members again. */
  review(isMember: (owner: Uint8Array) => boolean): void;
  /** An address that leads back to this node. */
  exclude(address: PeerAddress): void;
  /** The port on which this node listens, so that it recognises its own addresses. */
  listensOn(port: number): void;
  /**
   * One of the addresses that `fits`. Urgent and configured addresses alternate, so that peers that
   * announce ever more addresses cannot delay configured ones.
   */
  pick(fits: (place: Place) => boolean): PeerAddress | undefined;
  save(): void;
}

/** An address that may be dialled. */
export interface Place {
  readonly text: string;
  readonly configured: boolean;
  /** The node that probably is there. */
  readonly owner: Uint8Array | undefined;
}

export function createAddressBook(
  options: AddressBookOptions,
  { clock, random, log, files }: AddressBookPorts,
): AddressBook {
  const known = new KnownPlaces(options.configured, options.residenceMs, clock);
  const candidates = new CandidatePlaces();
  /** Addresses that lead back to this node. */
  const own = new Set<string>();
  let ownPort: number | undefined;
  let picks = 0;

  for (const address of load()) known.restore(address);

  function load(): PeerAddress[] {
    const bytes = options.file === undefined ? undefined : files?.read(options.file);
    if (bytes === undefined) return [];
    try {
      return addressesIn(bytes, LEARNED_MAX);
    } catch (cause) {
      log.warn('peers.file-unreadable', { file: options.file, why: (cause as Error).message });
      return [];
    }
  }

  const isOwn = ({ host, port }: PeerAddress): boolean =>
    own.has(addressText({ host, port })) ||
    isAnyLocal(host) ||
    (isLoopback(host) && port === ownPort);

  function places(): (Place & { readonly address: PeerAddress })[] {
    const rows = Array.from(known.all(), ([text, { address, configured, owner, claimed }]) => ({
      ...{ text, address, configured, owner: claimed ?? owner },
    }));
    const offered = Array.from(candidates.all(), ([text, address]) => ({
      ...{ text, address, configured: false, owner: undefined },
    }));
    return [...rows, ...offered].filter(({ address }) => !isOwn(address));
  }

  function below(count: number): number {
    return new DataView(random.bytes(4).buffer).getUint32(0) % count;
  }

  return {
    known: () => [...known.all().values()],
    candidates: () => [...candidates.all().values()],
    isConfigured: (owner, host) => known.isConfigured(owner, host),

    offer(addresses, isUrgent) {
      for (const { host, port } of addresses) {
        const address = { host, port };
        const text = addressText(address);
        if (known.has(text) || candidates.has(text) || isOwn(address)) continue;
        candidates.add(text, address, isUrgent);
      }
    },
    confirm(address, owner) {
      candidates.remove(addressText(address));
      if (!isOwn(address)) known.confirm(address, owner);
    },
    suspect(address, owner) {
      candidates.remove(addressText(address));
      known.suspect(address, owner);
    },
    fail(address) {
      candidates.remove(addressText(address));
      known.fail(address);
    },
    locate: (host, digits) => known.locate(host, digits),
    touch: (owner) => known.touch(owner),
    review: (isMember) => known.review(isMember),

    exclude(address) {
      const text = addressText(address);
      own.add(text);
      candidates.remove(text);
      known.remove(text);
    },
    listensOn(port) {
      ownPort = port;
    },

    pick(fits) {
      const open = places().filter(fits);
      const listed = open.filter(({ configured }) => configured);
      const news = open.filter(({ text }) => candidates.isUrgent(text));
      const [first, second] = picks++ % 2 === 0 ? [news, listed] : [listed, news];
      const chosen = [first, second, open].find(({ length }) => length > 0) ?? [];
      // The oldest news, and any of the others.
      return chosen[chosen === news || chosen.length === 0 ? 0 : below(chosen.length)]?.address;
    },

    save() {
      if (options.file === undefined || files === undefined) return;
      files.replace(options.file, addressFile(known.all().keys()));
    },
  };
}
