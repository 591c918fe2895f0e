/**
 * The service of status records on the chain of a node in memory, with peers that note what they
 * get.
 */
import { base58 } from '../../../src/base/base58.ts';
import { concat } from '../../../src/base/bytes.ts';
import { decodeStatuses, encodeStatuses } from '../../../src/contracts/statuses/status-messages.ts';
import type { Peer, Peers } from '../../../src/contracts/statuses/status-peers.ts';
import { signedPart, type UnsignedStatus } from '../../../src/contracts/statuses/status-record.ts';
import type { OutcomeStatus } from '../../../src/contracts/statuses/status-report.ts';
import {
  Statuses,
  type StatusesOptions,
  type StatusesPorts,
} from '../../../src/contracts/statuses/statuses.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { type Account, ROUND_MS, type WholeNode, wholeNode } from '../../node/in-process.ts';
import { inlineVerifier } from '../../node/memory-ports.ts';
import type { Scope } from '../../system/e2e/process.ts';

export interface KnownPeer extends Peer {
  readonly name: string;
  /** Records that it got. */
  readonly got: UnsignedStatus[];
  /** Messages that it got. */
  messages: number;
  readonly offences: string[];
}

export interface Ground extends WholeNode {
  readonly miner: Account;
  readonly otherMiner: Account;
  /** Registered, and no miner. */
  readonly member: Account;
  /** No longer registered, still with the role of a miner. */
  readonly removed: Account;
  /** A miner that was never registered. */
  readonly stranger: Account;
}

export interface Opened {
  readonly statuses: Statuses;
  readonly peers: readonly [KnownPeer, KnownPeer, KnownPeer];
  /** Signatures that were checked. */
  checks(): number;
  /** What a peer sends arrives. */
  arrive(peer: KnownPeer, ...records: readonly Uint8Array[]): Promise<void>;
  /** What anyone sends arrives; rejects with the error of the protocol. */
  message(peer: KnownPeer, bytes: Uint8Array): void;
  leave(peer: KnownPeer): void;
  /** Time passes, and everything that waits is done. */
  pass(ms?: number): Promise<void>;
}

export async function ground(t: Scope, set: readonly string[] = []): Promise<Ground> {
  const whole = await wholeNode(t, { set: ['miner.enable=no', ...set] });
  // The network registers all of them.
  const [owner, miner, otherMiner, member, removed] = whole.accounts;
  const stranger = whole.newAccount('a stranger with a role');
  for (const { text: target } of [miner, otherMiner, stranger, removed]) {
    await whole.send(owner, { type: 102, target, opType: 'add', role: 'miner' });
  }
  const targetPubKey = base58.encode(removed.publicKey);
  await whole.send(owner, { type: 111, targetPubKey, nodeName: 'n', opType: 'remove' });
  await whole.clock.advance(ROUND_MS);
  await whole.produceBlock();
  // A role is in force after the time of its transaction.
  await whole.clock.advance(1_000);
  return { ...whole, miner, otherMiner, member, stranger, removed };
}

export async function opened(
  t: Scope,
  on: Ground,
  options: Partial<StatusesOptions> = {},
  ports: Partial<StatusesPorts> = {},
): Promise<Opened> {
  const names = ['one', 'two', 'three'] as const;
  const peers = names.map((name): KnownPeer => {
    const got: UnsignedStatus[] = [];
    const offences: string[] = [];
    return {
      name,
      got,
      messages: 0,
      offences,
      miner: on.scheme.addressOf(on.family.keyPairFromPhrase(name).publicKey),
      notify(_protocol, message) {
        this.messages += 1;
        got.push(...decodeStatuses(message.slice(), on.scheme).map(({ record }) => record));
        return true;
      },
      offend: (offence) => void offences.push(offence),
    };
  }) as [KnownPeer, KnownPeer, KnownPeer];
  let take: ((peer: Peer, message: Uint8Array) => void) | undefined;
  let closed: (peer: Peer) => void = () => {};
  const port: Peers = {
    all: () => peers,
    onClose(action) {
      closed = action;
    },
    handleNotices(_protocol, handler) {
      take = handler.take;
    },
  };
  let checks = 0;
  const verifier = inlineVerifier(on.family);
  const statuses = new Statuses(
    {
      recordsMax: 100_000,
      keepMs: 3_600_000,
      batchMax: 10,
      batchMs: 100,
      errorQuorum: 2,
      cleanupMs: 60_000,
      poolBytesMax: 100_000_000,
      isWatcher: false,
      ...options,
    },
    {
      view: on.node.blockchain.view,
      store: on.store,
      clock: on.clock,
      log: on.log,
      verifier: {
        verify(items) {
          checks += items.length;
          return verifier.verify(items);
        },
      },
      pool: on.node.pool,
      peers: port,
      executes: () => options.errorQuorum === undefined,
      miner: {
        publicKey: on.accounts[0].publicKey,
        sign: (message) => signWith(on, on.accounts[0], message),
      },
      ...ports,
    },
  );
  await statuses.start();
  t.teardown(() => statuses.stop());
  const pass = (ms = 1): Promise<void> => on.clock.advance(ms);
  return {
    statuses,
    peers,
    checks: () => checks,
    async arrive(peer, ...records) {
      take!(peer, encodeStatuses(records, on.scheme));
      await pass();
    },
    message: (peer, bytes) => take!(peer, bytes),
    leave: (peer) => closed(peer),
    pass,
  };
}

/** The node makes its blocks by the account of a miner. */
export const minerOf = (on: Ground): StatusesPorts['miner'] => ({
  publicKey: on.miner.publicKey,
  sign: (message) => signWith(on, on.miner, message),
});

const random = { bytes: (count: number) => new Uint8Array(count).fill(9) };

export const signWith = ({ family }: Ground, by: Account, message: Uint8Array): Uint8Array =>
  family.sign(by.privateKey, message, random);

/** A record in its bytes. */
export function sealed(
  on: Ground,
  by: Account,
  txId: Uint8Array,
  status: OutcomeStatus,
  fields: Partial<UnsignedStatus> = {},
): Uint8Array {
  const signed = signedPart(
    {
      senderPublicKey: by.publicKey,
      txId,
      status,
      code: status === 'Success' ? undefined : 3,
      message: 'what happened',
      timestamp: on.clock.now(),
      ...fields,
    },
    on.scheme,
  );
  return concat(signed, signWith(on, by, signed));
}

/** A transaction that creates a contract and waits in the pool. */
export const waiting = (on: Ground, name: string): Promise<Tx> =>
  on.send(on.accounts[0], {
    type: 103,
    image: 'registry/example:1',
    imageHash: 'ab'.repeat(32),
    contractName: name,
    params: [],
  });
