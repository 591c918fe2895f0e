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
import { fromUtf8, utf8 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Files } from '../../base/ports/files.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Random } from '../../base/ports/random.ts';
import {
  addressText,
  isAnyLocal,
  isLoopback,
  type PeerAddress,
  parseAddress,
} from '../messages/peer-address.ts';
import { CandidatePlaces } from './candidate-places.ts';
import { type KnownPlace, KnownPlaces, LEARNED_MAX, type Met } from './known-places.ts';

export interface AddressBookOptions {
  readonly knownPeers: readonly PeerAddress[];
  readonly residenceMs: number;
  /** Undefined: no addresses are kept across restarts. */
  readonly file: string | undefined;
}

export interface AddressBookDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files?: Files | undefined;
}

/** An address that may be dialled. */
export interface Place {
  readonly text: string;
  readonly configured: boolean;
  /** The node that probably is there. */
  readonly owner: Uint8Array | undefined;
  /** The account that makes its blocks. */
  readonly miner: Uint8Array | undefined;
}

export class AddressBook {
  private readonly options: AddressBookOptions;
  private readonly deps: AddressBookDeps;
  private readonly knownPlaces: KnownPlaces;
  private readonly candidatePlaces = new CandidatePlaces();
  /** Addresses that lead back to this node. */
  private readonly own = new Set<string>();
  private ownPort: number | undefined;
  private picks = 0;

  constructor(options: AddressBookOptions, deps: AddressBookDeps) {
    this.options = options;
    this.deps = deps;
    this.knownPlaces = new KnownPlaces(options.knownPeers, options.residenceMs, deps.clock);
    for (const address of this.load()) this.knownPlaces.restore(address);
  }

  known(): readonly KnownPlace[] {
    return [...this.knownPlaces.all().values()];
  }

  isConfigured(owner: Uint8Array | undefined, host: string): boolean {
    return this.knownPlaces.isConfigured(owner, host);
  }

  /** Adds addresses that a peer announced; `urgent` ones are dialled first. */
  offer(addresses: readonly PeerAddress[], isUrgent: boolean): void {
    for (const { host, port } of addresses) {
      const address = { host, port };
      const text = addressText(address);
      if (this.knownPlaces.has(text) || this.candidatePlaces.has(text) || this.isOwn(address))
        continue;
      this.candidatePlaces.add(text, address, isUrgent);
    }
  }

  /** A handshake with this node has succeeded there. */
  confirm(address: PeerAddress, met: Met): void {
    this.candidatePlaces.remove(addressText(address));
    if (!this.isOwn(address)) this.knownPlaces.confirm(address, met);
  }

  /**
   * A node at this address claims this owner. For a while the address is not dialled as long as that
   * owner has a session, or is no member.
   */
  suspect(address: PeerAddress, owner: Uint8Array): void {
    this.candidatePlaces.remove(addressText(address));
    this.knownPlaces.suspect(address, owner);
  }

  /** A dial has failed. */
  fail(address: PeerAddress): void {
    this.candidatePlaces.remove(addressText(address));
    this.knownPlaces.fail(address);
  }

  /** The IP address of a configured host. */
  locate(host: string, digits: string): void {
    this.knownPlaces.locate(host, digits);
  }

  /** A message of this owner has arrived. */
  touch(owner: Uint8Array): void {
    this.knownPlaces.touch(owner);
  }

  /** Hides the addresses of owners that are no members, and shows those of members again. */
  review(isMember: (owner: Uint8Array) => boolean): void {
    this.knownPlaces.review(isMember);
  }

  /** An address that leads back to this node. */
  exclude(address: PeerAddress): void {
    const text = addressText(address);
    this.own.add(text);
    this.candidatePlaces.remove(text);
    this.knownPlaces.remove(text);
  }

  /** The port on which this node listens, so that it recognises its own addresses. */
  listensOn(port: number): void {
    this.ownPort = port;
  }

  /**
   * One of the addresses that `fits`. Urgent and configured addresses alternate, so that peers that
   * announce ever more addresses cannot delay configured ones.
   */
  pick(fits: (place: Place) => boolean): PeerAddress | undefined {
    const open = this.places().filter(fits);
    const listed = open.filter(({ configured }) => configured);
    const news = open.filter(({ text }) => this.candidatePlaces.isUrgent(text));
    const [first, second] = this.picks++ % 2 === 0 ? [news, listed] : [listed, news];
    const chosen = [first, second, open].find(({ length }) => length > 0) ?? [];
    // The oldest news, and any of the others.
    return chosen[chosen === news || chosen.length === 0 ? 0 : this.below(chosen.length)]?.address;
  }

  save(): void {
    if (this.options.file === undefined || this.deps.files === undefined) return;
    this.deps.files.replace(this.options.file, addressFile(this.knownPlaces.all().keys()));
  }

  private load(): PeerAddress[] {
    const bytes =
      this.options.file === undefined ? undefined : this.deps.files?.read(this.options.file);
    if (bytes === undefined) return [];
    try {
      return addressesIn(bytes, LEARNED_MAX);
    } catch (cause) {
      this.deps.log.warn('peers.file-unreadable', {
        file: this.options.file,
        why: (cause as Error).message,
      });
      return [];
    }
  }

  private isOwn({ host, port }: PeerAddress): boolean {
    return (
      this.own.has(addressText({ host, port })) ||
      isAnyLocal(host) ||
      (isLoopback(host) && port === this.ownPort)
    );
  }

  private places(): (Place & { readonly address: PeerAddress })[] {
    const rows = Array.from(
      this.knownPlaces.all(),
      ([text, { address, configured, owner, miner, claimed }]) => ({
        text,
        address,
        configured,
        owner: claimed ?? owner,
        miner: claimed ?? miner,
      }),
    );
    const offered = Array.from(this.candidatePlaces.all(), ([text, address]) => ({
      text,
      address,
      configured: false,
      owner: undefined,
      miner: undefined,
    }));
    return [...rows, ...offered].filter(({ address }) => !this.isOwn(address));
  }

  private below(count: number): number {
    return new DataView(this.deps.random.bytes(4).buffer).getUint32(0) % count;
  }
}

/** Up to `max` of the addresses in the file; throws where the file has another content. */
function addressesIn(bytes: Uint8Array, max: number): PeerAddress[] {
  const list: unknown = JSON.parse(fromUtf8(bytes) ?? '');
  if (!Array.isArray(list)) throw new Error('no list');
  return list.slice(0, max).flatMap((text) => {
    const address = typeof text === 'string' ? parseAddress(text) : undefined;
    return address === undefined ? [] : [address];
  });
}

/** A JSON array of "host:port". */
const addressFile = (texts: Iterable<string>): Uint8Array =>
  utf8(`${JSON.stringify([...texts], null, 2)}\n`);
