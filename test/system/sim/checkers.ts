/**
 * The conditions of a simulation after every commit, every second and at its end. The first broken
 * one ends the simulation.
 */

import { base58 } from '../../../src/base/base58.ts';
import { equal, latin1 } from '../../../src/base/bytes.ts';

import { decodeBlock } from '../../../src/block/block.ts';
import { type Header, headerHash } from '../../../src/block/header.ts';
import { finalProofWrite } from '../../../src/chain/finality/final-floor.ts';
import { createEquivocations } from '../../../src/chain/fork/equivocation.ts';
import { ForkChoice } from '../../../src/chain/fork/fork-choice.ts';
import { createInvalidBlocks } from '../../../src/chain/fork/invalid-blocks.ts';
import { initialBalance } from '../../../src/chain/store/audit.ts';
import { blockAt, confirmedHeight, headerRowAt } from '../../../src/chain/store/stored-blocks.ts';
import { isFromFuture } from '../../../src/consensus/consensus.ts';
import { executedBy } from '../../../src/ledger/contracts.ts';
import { brokenInvariants } from '../../../src/ledger/invariants.ts';
import { isParticipant } from '../../../src/ledger/participants.ts';
import { openBlockchain } from '../../../src/node/open-blockchain.ts';
import { consensusOf } from '../../../src/node/open-consensus.ts';
import { membersOf, withMembers } from '../../../src/tx/members.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { quiet, scheme } from '../../chain/chain-harness.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';
import { wrongResults } from './contracts.ts';
import type { Ground, SimNode } from './node.ts';
import { GENESIS_TIME, LENGTH_MS, liarMember, POOL_BYTES_MAX, ROLLBACK_MAX } from './settings.ts';

export class Broken extends Error {}

/** Offences that the network alone can make. */
export const SLOW: ReadonlySet<string> = new Set(['unanswered-request', 'withheld']);
const FULL_CHECK_EVERY = 50;
/** A block is checked against the clock so long before it is on disk: it may wait for a block made here. */
const COMMIT_MS_MAX = LENGTH_MS;
const CANDIDATES_MAX = 100;
const isResult = ({ def }: Tx): boolean => def.inner !== undefined;
/** True for an atomic transaction with results. */
export const runsContracts = (tx: Tx): boolean => membersOf(tx).some(isResult);

export class Checkers {
  /** Block id → state hash after it, whoever computed it. */
  private readonly hashes = new Map<string, string>();
  private readonly accepted: { readonly by: string; readonly tx: Tx }[] = [];
  /** Member and turn → the block that it has sealed in it, over all its lives. */
  private readonly sealed = new Map<string, string>();
  private commits = 0;
  /** Height → header hash of what any node has shown as final, or what is below that. */
  private readonly final = new Map<number, string>();
  /** Deepest reorganisation so far. */
  depthMax = 0;
  reorganisations = 0;
  /** Results of contracts in blocks, counted by every node. */
  executed = 0;
  /** Atomic transactions in blocks, counted likewise. */
  groups = 0;
  /** Those of them that run contracts, with the block in which somebody has had them. */
  readonly contractGroups = new Set<string>();

  /** The sums of each block are the audit's, which every node runs itself. */
  watch(node: SimNode): void {
    const { blockchain } = node;
    const initial = initialBalance(blockchain);
    const { id, height: start } = blockchain.tip();
    let height = start;
    let unwound = false;
    // What was on the disk is the state after some block, and a whole one.
    this.sameHashOf(node, id, start);
    this.wholeState(node, initial);
    blockchain.listen({
      rolledBack: () => {
        unwound = true;
        this.reorganisations++;
      },
      block: ({ tip, block }) => {
        this.commits++;
        this.sealedBefore(node, block.row.header);
        const wrong = wrongResults(
          block.txs,
          equal(tip.id, blockchain.tip().id) ? blockchain.view : undefined,
        );
        if (wrong !== undefined) this.fail(node, wrong);
        this.executed += [...withMembers(block.txs)].filter(isResult).length;
        this.groups += block.txs.filter(({ def }) => def.members !== undefined).length;
        for (const tx of block.txs.filter(runsContracts)) {
          this.contractGroups.add(`${latin1(tip.id)} ${latin1(tx.id)}`);
        }
        this.sameHashOf(node, tip.id, tip.height);
        this.notFromFuture(node);
        this.finalStays(node);
        if (unwound) {
          const depth = height - tip.height + 1;
          this.depthMax = Math.max(this.depthMax, depth);
          if (depth > ROLLBACK_MAX) this.fail(node, `a reorganisation of ${depth} blocks`);
        }
        unwound = false;
        height = blockchain.tip().height;
        if (this.commits % FULL_CHECK_EVERY === 0) this.wholeState(node, initial);
      },
    });
  }

  /** The highest block that any node has shown as final. */
  get finalHeight(): number {
    return this.final.size;
  }

  /** What a node shows as final is in its chain, and in that of everybody who shows as much. */
  private finalStays(node: SimNode): void {
    const shown = node.inner?.finality.final();
    if (shown === undefined) return;
    const { view } = node.blockchain;
    const hashAt = (height: number): string =>
      latin1(headerHash(headerRowAt(view, height)!.header, scheme));
    if (hashAt(shown.height) !== latin1(shown.id)) {
      this.fail(node, `its final block ${shown.height} is not in its chain`);
    }
    for (let height = this.final.size + 1; height <= shown.height; height++) {
      this.final.set(height, hashAt(height));
    }
    if (this.final.get(shown.height) !== latin1(shown.id)) {
      this.fail(node, `another final block ${shown.height}`);
    }
  }

  /**
   * Gives what is wrong where a member has a second block of a turn on its disk, in whichever of its
   * lives.
   */
  noteSealed(node: SimNode, block: Uint8Array): string | undefined {
    const { header } = decodeBlock(block, scheme);
    const turn = this.turnOf(node, header);
    const id = latin1(header.signature);
    const earlier = this.sealed.get(turn) ?? id;
    this.sealed.set(turn, id);
    return earlier === id ? undefined : `a second block in its turn: ${turn}`;
  }

  private turnOf(node: SimNode, header: Header): string {
    const { turnOf } = consensusOf(node.config, GENESIS_TIME, scheme);
    return `${node.name} ${turnOf(header)}`;
  }

  /** A block leaves its maker only once it is on the disk, with its turn. */
  private sealedBefore(node: SimNode, header: Header): void {
    if (!equal(header.generator, node.member.account.publicKey)) return;
    const turn = this.turnOf(node, header);
    if (this.sealed.get(turn) === latin1(header.signature)) return;
    this.fail(node, `a block that was not on its disk before: ${turn}`);
  }

  private wholeState(node: SimNode, initial: bigint): void {
    const broken = brokenInvariants(node.blockchain.view, initial);
    if (broken.length > 0) this.fail(node, broken.join('; '));
  }

  private sameHashOf(node: SimNode, id: Uint8Array, height: number): void {
    const hash = node.blockchain.stateHash(height);
    if (hash === undefined) this.fail(node, `no state hash at ${height}`);
    this.sameHash(node.name, id, height, hash);
  }

  /** Throws Broken where somebody else has computed another hash of the state after this block. */
  sameHash(who: string, id: Uint8Array, height: number, hash: Uint8Array): void {
    const key = latin1(id);
    const text = latin1(hash);
    const known = this.hashes.get(key) ?? text;
    this.hashes.set(key, text);
    if (known !== text) throw new Broken(`${who}: another state after block ${height} than others`);
  }

  private notFromFuture(node: SimNode): void {
    const { blockchain, clock, member } = node;
    const { timestamp, generator } = blockchain.tip().header;
    if (equal(generator, member.account.publicKey) || clock.age() < COMMIT_MS_MAX) return;
    if (!isFromFuture(timestamp, clock.now())) return;
    this.fail(node, `a block ${timestamp - clock.now()} ms from the future`);
  }

  /** What is bounded stays so, and nobody talks to strangers. */
  look(nodes: readonly SimNode[]): void {
    for (const node of nodes) {
      const { pool, blockchain, peers, config, member } = node;
      if (pool.bytes() > POOL_BYTES_MAX) this.fail(node, 'the pool is too big');
      const sessions = peers.sessions.all();
      if (sessions.length > config.network.maxSimultaneousConnections) {
        this.fail(node, `${sessions.length} sessions`);
      }
      if (peers.book.known().length > CANDIDATES_MAX) this.fail(node, 'too many known places');
      for (const { host, reason } of peers.penalties.blacklisted()) {
        if (host === liarMember.host || SLOW.has(reason.split(':')[0]!)) continue;
        this.fail(node, `refuses ${host}, who is honest: ${reason}`);
      }
      // Before that it trusts those who were listed by its operator.
      if (!isParticipant(blockchain.view, member.account.address)) continue;
      for (const { owner } of sessions) {
        if (isParticipant(blockchain.view, owner)) continue;
        this.fail(node, `a session with ${scheme.addressToText(owner)}, who is not registered`);
      }
    }
  }

  noteAccepted(node: SimNode, tx: Tx): void {
    this.accepted.push({ by: node.name, tx });
  }

  get acceptedCount(): number {
    return this.accepted.length;
  }

  /** Nothing that was accepted is lost without a word. */
  nothingLost(nodes: readonly SimNode[], refused: ReadonlyMap<string, ReadonlySet<string>>): void {
    for (const { by, tx } of this.accepted) {
      const node = nodes.find(({ name }) => name === by);
      if (node === undefined) continue;
      const isKnown =
        confirmedHeight(node.blockchain.view, tx.id) !== undefined ||
        executedBy(node.blockchain.view, tx.id) !== undefined ||
        node.pool.get(tx.id) !== undefined ||
        refused.get(by)?.has(latin1(tx.id)) === true;
      if (!isKnown) this.fail(node, `${tx.def.name} ${base58.encode(tx.id)} is lost`);
    }
  }

  /** Blocks taken back and applied again leave the same rows. Works on a copy. */
  async undoIsIdentity(node: SimNode, ground: Ground, blocks: number): Promise<void> {
    const store = createMemoryStore({ rows: node.disk.store.dump() });
    const { clock, config } = node;
    const { verifier, genesis } = ground;
    const ports = { scheme, store, verifier, clock, log: quiet };
    const { blockchain, consensus } = await openBlockchain(config, genesis, ports);
    const forkChoice = new ForkChoice(
      { rollbackMax: ROLLBACK_MAX },
      {
        ...ports,
        blockchain,
        consensus,
        invalid: createInvalidBlocks({ max: 10, forgetMs: 1000 }, clock),
        equivocations: createEquivocations(consensus, scheme, quiet),
        knownVerdicts: () => undefined,
      },
    );
    forkChoice.start();
    // What is final stays; here the rows are to come back, final or not.
    await store.write([finalProofWrite(undefined)]);
    const { height } = blockchain.tip();
    const to = Math.max(1, height - blocks);
    const taken = [];
    for (let at = to + 1; at <= height; at++) taken.push(blockAt(blockchain.view, at)!);
    const rows = (): string =>
      store
        .dump()
        .map(({ table, key, value }) => `${table} ${latin1(key)} ${latin1(value!)}`)
        .join('\n');
    const before = rows();
    await blockchain.rollback(to);
    const verdict = await forkChoice.adopt(
      await Promise.all(taken.map((block) => forkChoice.check(block))),
    );
    if (verdict.kind !== 'adopted') this.fail(node, `own blocks are ${verdict.kind}`);
    if (rows() !== before) this.fail(node, `undo of ${height - to} blocks left a trace`);
  }

  private fail(node: SimNode, why: string): never {
    throw new Broken(`${node.name}: ${why}`);
  }
}

/** Why these nodes have no common chain but for the newest block; undefined where they have. */
export function disagreement(nodes: readonly SimNode[]): string | undefined {
  const heights = nodes.map(({ blockchain }) => blockchain.tip().height);
  const common = Math.min(...heights) - 1;
  const idOf = ({ blockchain }: SimNode): string => {
    const row = headerRowAt(blockchain.view, Math.max(1, common));
    return row === undefined ? '' : latin1(row.header.signature);
  };
  const ids = new Set(nodes.map(idOf));
  const text = nodes.map(({ name }, i) => `${name} ${heights[i]}`).join(', ');
  if (ids.size > 1) return `${ids.size} chains at ${common}: ${text}`;
  return Math.max(...heights) - Math.min(...heights) > 1 ? `heights differ: ${text}` : undefined;
}
