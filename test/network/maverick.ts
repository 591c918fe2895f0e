/**
 * A registered node that follows no protocol: its handshake and sessions are real, and above them
 * it does what the test determines. By default it answers no request.
 */
import type { Network } from '../../src/base/ports/network.ts';
import { type Block, blockId, sealBlock } from '../../src/block/block.ts';
import type { UnsignedHeader } from '../../src/block/header.ts';
import { STATUS_NOTICES } from '../../src/contracts/statuses/status-messages.ts';
import {
  blockProtocols,
  type CompactTx,
  encodeCompact,
} from '../../src/network/messages/block-messages.ts';
import { signedByMiner } from '../../src/network/messages/handshake-messages.ts';
import { PEERS } from '../../src/network/messages/peer-messages.ts';
import { txProtocols } from '../../src/network/messages/transaction-messages.ts';
import { FINALITY_PROOFS, VOTES } from '../../src/network/messages/vote-messages.ts';
import type {
  ConnectedSession,
  StreamHandler,
} from '../../src/network/sessions/connected-session.ts';
import { Handshake, type OwnHello } from '../../src/network/sessions/handshake.ts';
import { Penalties } from '../../src/network/sessions/penalties.ts';
import type { RequestHandler, Session } from '../../src/network/sessions/session.ts';
import { SessionRegistry } from '../../src/network/sessions/session-registry.ts';
import { DATA } from '../../src/privacy/protocol/privacy-messages.ts';
import { family, quiet, scheme } from '../chain/chain-harness.ts';
import { seededRandom } from '../crypto/random.ts';
import type { Scope } from '../system/e2e/process.ts';
import {
  type Cluster,
  type ClusterNode,
  GENESIS_TIME,
  type Member,
  PORT,
  ROUND_MS,
} from './cluster.ts';

type Answer = (message: Uint8Array, session: Session) => ReturnType<RequestHandler['answer']>;

export interface Maverick extends Member {
  /** Address of the account that it is to its peers. */
  readonly owner: string;
  readonly network: Network;
  /** By protocol; what is not here is never answered. */
  readonly answers: Map<string, Answer>;
  /** By protocol; what is not here stays open without a word. */
  readonly streams: Map<string, StreamHandler['serve']>;
  sessions(): readonly Session[];
  session(node: Member): ConnectedSession | undefined;
  /** Dials, and again whenever it was thrown out. */
  pester(nodes: readonly Member[]): void;
  notifyAll(protocol: string, message: Uint8Array): void;
}

export interface Claims {
  /** What it says in its handshake, beside the truth. */
  readonly hello?: Partial<OwnHello> | undefined;
  /** Name of the member that it is to its peers; it makes its own blocks and proves that. */
  readonly identity?: string | undefined;
}

const minerOf = (at: Cluster, miner: Member, owner: Member): Pick<OwnHello, 'miner'> => {
  const signature = miner.sign(signedByMiner(blockId(at.genesis), owner.address));
  return { miner: { publicKey: miner.publicKey, signature } };
};

export const HANDSHAKE = '/permchain/T/hs/1.0.0';
const AGAIN_MS = 5_000;
const LARGE = 100_000_000;

export async function maverick(
  scope: Scope,
  at: Cluster,
  name: string,
  { hello = {}, identity }: Claims = {},
): Promise<Maverick> {
  const member = at.member(name);
  const owner = identity === undefined ? member : at.member(identity);
  const { clock } = at;
  const network = at.host(member.host);
  const random = seededRandom('a maverick');
  const answers = new Map<string, Answer>();
  const streams = new Map<string, StreamHandler['serve']>();
  const handshake = new Handshake({
    scheme,
    random,
    own: { ...at.hello(owner), ...(owner === member ? {} : minerOf(at, member, owner)), ...hello },
    minimumVersion: { major: 0, minor: 0, patch: 0 },
    sign: owner.sign,
    verify: async (key, message, signature) => family.verify(key, message, signature),
    ephemeralKey: () => random.bytes(32),
    keyOf: (_owner, claimed) => claimed,
  });
  const sessions = new SessionRegistry(
    { connectionsMax: 100, handshakeMs: 30_000, idleMs: 600_000 },
    {
      network,
      clock,
      log: quiet,
      scheme,
      handshake,
      penalties: new Penalties({ suspensionMs: 1, blacklistMs: 1, blacklisting: false }, clock),
      ownAddress: owner.address,
      isConfigured: () => false,
      miners: () => ({ others: [], isMiner: false }),
    },
  );
  for (const protocol of [
    PEERS,
    STATUS_NOTICES,
    blockProtocols.head,
    blockProtocols.newBlock,
    txProtocols.hashes,
    VOTES,
    FINALITY_PROOFS,
  ]) {
    sessions.handleNotices(protocol, { messageBytesMax: LARGE, take: () => {} });
  }
  const { ids, blocks, blockTxs } = blockProtocols;
  for (const protocol of [ids, blocks, blockTxs, txProtocols.txs]) {
    sessions.handleRequests(protocol, {
      messageBytesMax: LARGE,
      answerBytesMax: LARGE,
      concurrent: 100,
      answer: (session, message) =>
        answers.get(protocol)?.(message, session) ?? new Promise(() => {}),
    });
  }
  sessions.handleStreams(DATA, {
    messageBytesMax: LARGE,
    concurrent: 100,
    serve: (session, stream, charge) =>
      streams.get(DATA)?.(session, stream, charge) ?? new Promise<void>(() => {}),
  });
  sessions.start();
  await network.listen({ host: member.host, port: PORT, connectionsMax: 100 });
  scope.teardown(async () => {
    await sessions.stop();
    await network.close();
  });

  async function dial(node: Member): Promise<void> {
    const controller = new AbortController();
    const cancel = clock.after(AGAIN_MS, () => controller.abort(new Error('too late')));
    try {
      await sessions.establish(await network.dial(node.host, PORT, controller.signal));
    } catch {
      // It is refused, as it should be, and comes again.
    } finally {
      cancel();
    }
  }

  return {
    ...member,
    owner: owner.text,
    network,
    answers,
    streams,
    sessions: () => sessions.all(),
    session: (node) => sessions.of(node.address),
    pester(nodes) {
      const again = (): void => {
        for (const node of nodes) if (sessions.of(node.address) === undefined) void dial(node);
        clock.after(AGAIN_MS, again);
      };
      again();
    },
    notifyAll(protocol, message) {
      for (const session of sessions.all()) session.notify(protocol, message);
    },
  };
}

export type BlockChange = Partial<UnsignedHeader> & { transactions?: readonly Uint8Array[] };

/** A block on the tip of a node, by the rules but for what is changed. */
export function blockOn(
  { node }: ClusterNode,
  by: Pick<Member, 'publicKey' | 'sign'>,
  timestamp: number,
  { transactions = [], ...change }: BlockChange = {},
): Block {
  const { id, header } = node.blockchain.tip();
  const round = (time: number): number => Math.floor((time - GENESIS_TIME) / ROUND_MS);
  if (header.consensus.kind !== 'poa') throw new Error('proof of authority only');
  const skipped = Math.max(0, round(timestamp) - round(header.timestamp) - 1);
  return sealBlock(
    {
      version: 3,
      timestamp,
      reference: id,
      consensus: { kind: 'poa', skippedRounds: header.consensus.skippedRounds + skipped },
      features: [],
      generator: by.publicKey,
      ...change,
    },
    transactions,
    scheme,
    by.sign,
  );
}

/** The announcement of a block that carries its transactions along. */
export const inFull = ({ header, transactions }: Block): Uint8Array =>
  encodeCompact({ header, txs: transactions.map((bytes): CompactTx => ({ bytes })) }, scheme);

/** The announcement as honest nodes make it. */
export const inHashes = ({ header, transactions }: Block): Uint8Array =>
  encodeCompact(
    { header, txs: transactions.map((bytes): CompactTx => ({ hash: scheme.fastHash(bytes) })) },
    scheme,
  );

/** The time in the present round at which it is this member's turn, if it is. */
export function turnOf(at: ClusterNode, member: Member, now: number): number | undefined {
  const slot = at.node.blockchain.nextSlot(member, now);
  return slot !== undefined && slot.from <= now ? now : undefined;
}
