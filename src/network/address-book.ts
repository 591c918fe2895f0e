/**
 * Where nodes are (protocol.md §10.7).
 *
 *   configured   from known-peers; never forgotten
 *   learned      a handshake has succeeded there; forgotten a day after the last message
 *   candidate    told by a peer; at most 100, the oldest make room, gone after a failed dial
 *
 * The file is a JSON array of "host:port" with everything that is configured or learned.
 */
import { fromUtf8, latin1, utf8 } from '../base/bytes.ts';
import type { Clock, Files, Log, Random } from '../base/ports.ts';
import { addressText, isAnyLocal, isLoopback, type PeerAddress, parseAddress } from './address.ts';

const CANDIDATES_MAX = 100;
const LEARNED_MAX = 1000;

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
  readonly lastSeen: number;
  /** Who was there last; for a node that nobody has spoken to, undefined. */
  readonly owner: Uint8Array | undefined;
}

export interface AddressBook {
  known(): readonly KnownPlace[];
  candidates(): readonly PeerAddress[];
  isConfigured(owner: Uint8Array | undefined, host: string): boolean;
  /** Takes what a peer has told; `urgent` ones are dialled first. */
  offer(addresses: readonly PeerAddress[], urgent: boolean): void;
  /** A handshake with this owner has succeeded there. */
  confirm(address: PeerAddress, owner: Uint8Array): void;
  /** Somebody says to be this owner there, and needs not to be dialled while that one is here. */
  suspect(address: PeerAddress, owner: Uint8Array): void;
  /** A dial has failed. */
  fail(address: PeerAddress): void;
  /** A message of this owner has come. */
  touch(owner: Uint8Array): void;
  /** Drops what was learned of owners who are no members any more. */
  forget(isMember: (owner: Uint8Array) => boolean): void;
  /** A place that leads back to this node. */
  exclude(address: PeerAddress): void;
  /** Where the node listens, so that its own addresses can be told. */
  listensOn(port: number): void;
  /** One of the places that `fits`, urgent ones first. */
  pick(fits: (text: string, owner: Uint8Array | undefined) => boolean): PeerAddress | undefined;
  save(): void;
}

interface Row {
  readonly address: PeerAddress;
  readonly configured: boolean;
  lastSeen: number;
  owner: Uint8Array | undefined;
}

export function createAddressBook(
  options: AddressBookOptions,
  { clock, random, log, files }: AddressBookPorts,
): AddressBook {
  const rows = new Map<string, Row>();
  const candidates = new Map<string, PeerAddress>();
  const urgent = new Set<string>();
  const own = new Set<string>();
  let ownPort: number | undefined;

  for (const address of options.configured) add(address, true);
  for (const address of load()) if (!rows.has(addressText(address))) add(address, false);

  function add(address: PeerAddress, configured: boolean): Row {
    const row = { address, configured, lastSeen: clock.now(), owner: undefined };
    rows.set(addressText(address), row);
    if (rows.size > LEARNED_MAX + options.configured.length) {
      const oldest = [...rows].find(([, { configured }]) => !configured);
      if (oldest !== undefined) rows.delete(oldest[0]);
    }
    return row;
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
    const now = clock.now();
    for (const [text, { configured, lastSeen }] of rows) {
      if (!configured && now - lastSeen > options.residenceMs) rows.delete(text);
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
      row.lastSeen = clock.now();
    },
    suspect(address, owner) {
      drop(addressText(address));
      const row = rows.get(addressText(address));
      if (row !== undefined) row.owner = owner;
    },
    fail: (address) => drop(addressText(address)),

    touch(owner) {
      const key = latin1(owner);
      for (const row of rows.values()) {
        if (row.owner !== undefined && latin1(row.owner) === key) row.lastSeen = clock.now();
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
      const open = [...rows.values(), ...[...candidates.values()].map((address) => ({ address }))]
        .map((row) => ({ owner: undefined, ...row, text: addressText(row.address) }))
        .filter(({ address, text, owner }) => !isOwn(address) && fits(text, owner));
      const first = open.find(({ text }) => urgent.has(text));
      return (first ?? open[open.length > 0 ? below(open.length) : 0])?.address;
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
