/**
 * Where nodes are (network.md#addresses-of-nodes).
 *
 *   configured   from known-peers; never forgotten
 *   learned      a handshake has succeeded there; forgotten a day after the last message
 *   candidate    announced by a peer; at most 100, the oldest are dropped, and any after a failed dial
 *
 * The file is a JSON array of "host:port" with everything that is configured or learned.
 */
import { fromUtf8, latin1, utf8 } from '../../base/bytes.ts';
import type { Clock, Files, Log, Random } from '../../base/ports.ts';
import {
  addressText,
  isAnyLocal,
  isLoopback,
  type PeerAddress,
  parseAddress,
} from '../messages/peer-address.ts';

const CANDIDATES_MAX = 100;
const LEARNED_MAX = 1000;
/** Failed dials after which an address from the file is dropped, unless one has succeeded. */
const FAILED_DIALS_MAX = 10;

export interface AddressBookOptions {
  readonly configured: readonly PeerAddress[];
  readonly residenceMs: number;
  /** Undefined: nothing is kept across restarts. */
  readonly file: string | undefined;
}

export interface AddressBookPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files: Files | undefined;
}

export interface KnownPlace {
  readonly address: PeerAddress;
  readonly configured: boolean;
  /** Time of day. */
  readonly lastSeen: number;
  /** The owner last met there; undefined before the first handshake. */
  readonly owner: Uint8Array | undefined;
}

export interface AddressBook {
  known(): readonly KnownPlace[];
  candidates(): readonly PeerAddress[];
  isConfigured(owner: Uint8Array | undefined, host: string): boolean;
  /** Adds addresses that a peer announced; `urgent` ones are dialled first. */
  offer(addresses: readonly PeerAddress[], urgent: boolean): void;
  /** A handshake with this owner has succeeded there. */
  confirm(address: PeerAddress, owner: Uint8Array): void;
  /** A node there says to be of this owner: it is not dialled while that one is here, or no member. */
  suspect(address: PeerAddress, owner: Uint8Array): void;
  /** The address in digits that a host of the configuration has. */
  locate(host: string, digits: string): void;
  /** A dial has failed. */
  fail(address: PeerAddress): void;
  /** A message of this owner has come. */
  touch(owner: Uint8Array): void;
  /** Drops what was learned of owners who are no members any more. */
  forget(isMember: (owner: Uint8Array) => boolean): void;
  /** A place that leads back to this node. */
  exclude(address: PeerAddress): void;
  /** The port on which this node listens, so that it recognises its own addresses. */
  listensOn(port: number): void;
  /**
   * One of the places that `fits`. Urgent and configured places go first in turn: peers that
   * announce ever more addresses cannot delay configured ones.
   */
  pick(fits: (place: Place) => boolean): PeerAddress | undefined;
  save(): void;
}

/** A place that may be dialled. */
export interface Place {
  readonly text: string;
  readonly configured: boolean;
  readonly owner: Uint8Array | undefined;
}

interface Row {
  readonly address: PeerAddress;
  readonly configured: boolean;
  lastSeen: number;
  /** The same moment on the monotonic clock. */
  seenAt: number;
  owner: Uint8Array | undefined;
  /** Since the last successful handshake there. */
  failedDials: number;
  /** Read from the file, without a successful handshake since the start. */
  isUnconfirmed: boolean;
}

export function createAddressBook(
  options: AddressBookOptions,
  { clock, random, log, files }: AddressBookPorts,
): AddressBook {
  const rows = new Map<string, Row>();
  const candidates = new Map<string, PeerAddress>();
  const urgent = new Set<string>();
  const own = new Set<string>();
  /** Addresses in digits of configured hosts. */
  const located = new Map<string, string>();
  let ownPort: number | undefined;
  let picks = 0;

  for (const address of options.configured) add(address, true);
  for (const address of load()) {
    if (!rows.has(addressText(address))) add(address, false).isUnconfirmed = true;
  }

  function add(address: PeerAddress, configured: boolean): Row {
    const row: Row = {
      ...{ address, configured, lastSeen: 0, seenAt: 0, owner: undefined },
      ...{ failedDials: 0, isUnconfirmed: false },
    };
    see(row);
    rows.set(addressText(address), row);
    if (rows.size > LEARNED_MAX + options.configured.length) {
      const oldest = [...rows].find(([, { configured }]) => !configured);
      if (oldest !== undefined) rows.delete(oldest[0]);
    }
    return row;
  }

  function see(row: Row): void {
    row.lastSeen = clock.now();
    row.seenAt = clock.monotonic();
  }

  function load(): PeerAddress[] {
    const bytes = options.file === undefined ? undefined : files?.read(options.file);
    if (bytes === undefined) return [];
    try {
      const list: unknown = JSON.parse(fromUtf8(bytes) ?? '');
      if (!Array.isArray(list)) throw new Error('no list');
      return list.slice(0, LEARNED_MAX).flatMap((text) => {
        const address = typeof text === 'string' ? parseAddress(text) : undefined;
        return address === undefined ? [] : [address];
      });
    } catch (cause) {
      log.warn('peers.file-unreadable', { file: options.file, why: (cause as Error).message });
      return [];
    }
  }

  const isOwn = ({ host, port }: PeerAddress): boolean =>
    own.has(addressText({ host, port })) ||
    isAnyLocal(host) ||
    (isLoopback(host) && port === ownPort);

  function expire(): void {
    const now = clock.monotonic();
    for (const [text, { configured, seenAt }] of rows) {
      if (!configured && now - seenAt > options.residenceMs) rows.delete(text);
    }
  }

  function below(count: number): number {
    return new DataView(random.bytes(4).buffer).getUint32(0) % count;
  }

  return {
    known() {
      expire();
      return [...rows.values()];
    },
    candidates: () => [...candidates.values()],

    isConfigured: (owner, host) =>
      [...rows.values()].some(
        (row) =>
          row.configured &&
          (row.address.host === host ||
            located.get(row.address.host) === host ||
            (owner !== undefined &&
              row.owner !== undefined &&
              latin1(row.owner) === latin1(owner))),
      ),

    offer(addresses, isUrgent) {
      for (const { host, port } of addresses) {
        const address = { host, port };
        const text = addressText(address);
        if (rows.has(text) || candidates.has(text) || isOwn(address)) continue;
        candidates.set(text, address);
        if (isUrgent) urgent.add(text);
        if (candidates.size > CANDIDATES_MAX) drop(candidates.keys().next().value!);
      }
    },

    confirm(address, owner) {
      const text = addressText(address);
      drop(text);
      if (isOwn(address)) return;
      const row = rows.get(text) ?? add(address, false);
      row.owner = owner;
      row.failedDials = 0;
      row.isUnconfirmed = false;
      see(row);
    },
    locate: (host, digits) => void located.set(host, digits),
    suspect(address, owner) {
      drop(addressText(address));
      const row = rows.get(addressText(address));
      if (row !== undefined) row.owner = owner;
    },
    fail(address) {
      const text = addressText(address);
      drop(text);
      const row = rows.get(text);
      if (row === undefined || row.configured) return;
      // Its time begins anew with every start of the node, so it would be dialled for ever.
      if (++row.failedDials >= FAILED_DIALS_MAX && row.isUnconfirmed) rows.delete(text);
    },

    touch(owner) {
      const key = latin1(owner);
      for (const row of rows.values()) {
        if (row.owner !== undefined && latin1(row.owner) === key) see(row);
      }
    },
    forget(isMember) {
      for (const [text, { configured, owner }] of rows) {
        if (!configured && owner !== undefined && !isMember(owner)) rows.delete(text);
      }
    },

    exclude(address) {
      const text = addressText(address);
      own.add(text);
      drop(text);
      if (rows.get(text)?.configured === false) rows.delete(text);
    },
    listensOn(port) {
      ownPort = port;
    },

    pick(fits) {
      expire();
      const known = [...rows.values()].map((row) => ({ ...row, text: addressText(row.address) }));
      const offered = Array.from(candidates, ([text, address]) => ({
        ...{ address, text, configured: false, owner: undefined },
      }));
      const open = [...known, ...offered].filter((place) => !isOwn(place.address) && fits(place));
      const listed = open.filter(({ configured }) => configured);
      const news = open.filter(({ text }) => urgent.has(text));
      const [first, second] = picks++ % 2 === 0 ? [news, listed] : [listed, news];
      const places = [first, second, open].find(({ length }) => length > 0) ?? [];
      // The oldest news, and any of the others.
      return places[places === news || places.length === 0 ? 0 : below(places.length)]?.address;
    },

    save() {
      if (options.file === undefined || files === undefined) return;
      expire();
      files.replace(options.file, utf8(`${JSON.stringify([...rows.keys()], null, 2)}\n`));
    },
  };

  function drop(text: string): void {
    candidates.delete(text);
    urgent.delete(text);
  }
}
