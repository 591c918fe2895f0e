/**
 * A node of the toy network: the engine of src/finality with a chain, a disk and connections of its own. It
 * lives once; its disk goes to its next life.
 */
import { equal, latin1 } from '../../../src/base/bytes.ts';
import { Refusal } from '../../../src/base/errors.ts';
import type { Log, LogFields } from '../../../src/base/ports/log.ts';
import type { Verifier } from '../../../src/base/ports/verifier.ts';
import type { Conflict } from '../../../src/finality/conflicts.ts';
import { Finality, type Peer } from '../../../src/finality/finality.ts';
import { decodeNote, readNote } from '../../../src/finality/note-file.ts';
import { decodeFinalProof } from '../../../src/finality/proofs/final-proof.ts';
import type { Rules } from '../../../src/finality/rules.ts';
import type { TrackedBlock } from '../../../src/finality/tracked-block.ts';
import type { FinalBlock } from '../../../src/finality/tracker.ts';
import type { SignedVote } from '../../../src/finality/votes/vote.ts';
import { family } from '../../family.ts';
import type { Dice } from '../../system/sim/random.ts';
import type { NodeClock } from '../../system/sim/world.ts';
import { compareBranches, isAboveFinal } from '../branch-order.ts';
import { judgeCarried } from '../judge-carried.ts';
import { scheme } from '../vectors.ts';
import type { Checks } from './checks.ts';
import type { Content, Disk } from './disk.ts';
import { type Account, type ToyBlock, trackedChild, trackedRoot } from './toy-chain.ts';

export const ROUND_MS = 1000;

export interface NodeSettings {
  readonly account: Account;
  readonly genesis: ToyBlock;
  readonly maxRollback: number;
  readonly rules: Rules;
  /** Follows whatever branch, and makes blocks without waiting: only safety can hold. */
  readonly isWild: boolean;
}

export interface NodePorts {
  readonly clock: NodeClock;
  readonly dice: Dice;
  readonly disk: Disk;
  readonly verifier: Verifier;
  readonly checks: Checks;
  readonly peers: () => Iterable<Peer>;
  /** A block came that this node did not have; `isOwnHead`: it follows it now. */
  readonly onBlock: (block: ToyBlock) => void;
  readonly onHead: (block: ToyBlock) => void;
  readonly onLog: (event: string, fields: LogFields) => void;
}

export class ToyNode {
  readonly settings: NodeSettings;
  readonly ports: NodePorts;
  readonly engine: Finality;
  readonly index = new Map<string, TrackedBlock>();
  readonly toys = new Map<string, ToyBlock>();
  isAlive = true;
  /** Two final blocks of which it knows the proofs. */
  conflict: Conflict | undefined;
  head: ToyBlock;
  /** The best block that is known, which may still be on its way to the disk. */
  private isMoving = false;
  private lane: Promise<void> = Promise.resolve();
  private writes: Promise<void> = Promise.resolve();

  constructor(settings: NodeSettings, ports: NodePorts) {
    this.settings = settings;
    this.ports = ports;
    const { genesis, rules, maxRollback, account } = settings;
    const { content } = ports.disk;
    this.head = content.head;
    const chain = chainOf(content.head);
    for (const block of chain) this.put(block);
    this.engine = new Finality(
      this.storedFinal(content),
      { genesis: genesis.id, maxRollback, roundMs: ROUND_MS },
      {
        scheme,
        clock: ports.clock,
        log: this.log(),
        verifier: ports.verifier,
        rules: settings.isWild ? { ...rules, mayMakeBlock: () => true } : rules,
        blocks: this.index,
        head: () => this.tracked(this.head),
        peers: ports.peers,
        voter: {
          publicKey: account.publicKey,
          sign: (message) => family.sign(account.privateKey, message, ports.dice),
          disk: {
            read: () => content.note,
            replace: (bytes) =>
              ports.disk.write(() => {
                content.note = bytes;
                const { vote } = decodeNote(bytes, this.owner, scheme);
                if (vote !== undefined) ports.checks.onDisk(vote);
              }),
            remove: () =>
              ports.disk.write(() => {
                content.note = undefined;
              }),
          },
          note: readNote({ read: () => content.note }, 'note', this.owner, scheme),
        },
        saveProof: (bytes) => this.saveProof(bytes),
        onConflict: (found) => {
          this.conflict = found;
        },
        onChange: () => this.choose(),
      },
    );
    for (const block of chain) this.engine.added(this.tracked(block));
  }

  get owner() {
    return { genesis: this.settings.genesis.id, voter: this.settings.account.publicKey };
  }

  start(): void {
    this.engine.start();
    this.engine.moved();
  }

  kill(): void {
    this.isAlive = false;
    this.ports.clock.kill();
    this.ports.disk.crash();
    this.engine.stop();
  }

  private storedFinal({ proof, head }: Content): FinalBlock {
    const { genesis } = this.settings;
    if (proof === undefined) return { height: 1, id: genesis.id };
    if (!provesOneOf(head, proof)) {
      this.ports.checks.say('reverted', 'the stored chain lacks its final block');
    }
    const decoded = decodeFinalProof(proof, scheme);
    return { ...decoded.link.source, proof: decoded };
  }

  /** As in the chain of a node: one write of the head or of a proof at a time. */
  private exclusive<T>(job: () => Promise<T>): Promise<T> {
    const result = this.writes.then(job);
    this.writes = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  private saveProof(proof: Uint8Array): Promise<boolean> {
    const { disk } = this.ports;
    const { content } = disk;
    return this.exclusive(async () => {
      if (!provesOneOf(content.head, proof)) return false;
      await disk.write(() => {
        content.proof = proof;
      });
      return true;
    });
  }

  tracked(block: ToyBlock): TrackedBlock {
    return this.index.get(latin1(block.id))!;
  }

  private put(block: ToyBlock): void {
    const id = latin1(block.id);
    const parent = block.parent && this.index.get(latin1(block.parent.id));
    const tracked =
      parent === undefined ? trackedRoot(block) : trackedChild(block, parent, this.index);
    this.index.set(id, tracked);
    this.toys.set(id, block);
    this.ports.checks.block(tracked, block);
  }

  /** Takes a block with its ancestors, in the order of arrival. */
  take(block: ToyBlock): void {
    this.lane = this.lane.then(async () => {
      const missing: ToyBlock[] = [];
      for (let at: ToyBlock | undefined = block; at !== undefined; at = at.parent) {
        if (this.index.has(latin1(at.id))) break;
        missing.unshift(at);
      }
      for (const one of missing) if (!(await this.accept(one))) return;
    });
  }

  private async accept(block: ToyBlock): Promise<boolean> {
    const parent = this.index.get(latin1(block.parent!.id));
    if (parent === undefined || !this.isAlive) return false;
    if (block.carried !== undefined) {
      const { rules, genesis } = this.settings;
      const { verifier } = this.ports;
      try {
        await judgeCarried(block.carried, parent, {
          blocks: this.index,
          genesis: genesis.id,
          scheme,
          rules,
          verifier,
        });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return false;
      }
      if (!this.isAlive) return false;
    }
    this.put(block);
    this.engine.added(this.tracked(block));
    this.ports.onBlock(block);
    return true;
  }

  /** Moves to the best chain, once that is on disk. */
  private choose(): void {
    if (this.engine === undefined || this.isMoving || !this.isAlive) return;
    const best = this.settings.isWild ? this.anyBranch() : this.bestBranch();
    if (best === this.head) return;
    this.isMoving = true;
    const { disk } = this.ports;
    const written = this.exclusive(async () => {
      // A block may have become final meanwhile.
      if (!this.isAboveFinal(this.tracked(best))) return;
      await disk.write(() => {
        disk.content.head = best;
      });
    });
    void written
      .catch(() => undefined)
      .then(() => this.follow(disk.content.head))
      .then(() => {
        this.isMoving = false;
        if (this.isAlive) this.ports.clock.after(10, () => this.choose());
      });
  }

  /** What is on disk, also where the disk said that it had refused it. */
  private follow(head: ToyBlock): void {
    if (!this.isAlive || head === this.head) return;
    this.head = head;
    this.engine.moved();
    this.ports.onHead(head);
  }

  private isAboveFinal(block: TrackedBlock): boolean {
    return isAboveFinal(block, this.engine.tracker, this.index);
  }

  private leaves(): ToyBlock[] {
    const parents = new Set([...this.index.values()].map(({ parent }) => parent));
    return [...this.toys]
      .filter(([id]) => !parents.has(id) && this.isAboveFinal(this.index.get(id)!))
      .map(([, block]) => block);
  }

  private bestBranch(): ToyBlock {
    let best = this.isAboveFinal(this.tracked(this.head)) ? this.head : undefined;
    for (const leaf of this.leaves()) {
      const isBetter =
        best === undefined ||
        compareBranches(this.tracked(leaf), this.tracked(best), this.engine.tracker) > 0;
      if (isBetter) best = leaf;
    }
    return best ?? this.head;
  }

  private anyBranch(): ToyBlock {
    const leaves = this.leaves();
    const isLost = !this.isAboveFinal(this.tracked(this.head));
    return leaves.length > 0 && (isLost || this.ports.dice.happens(0.3))
      ? this.ports.dice.pick(leaves)
      : this.head;
  }

  isOwn(vote: SignedVote): boolean {
    return equal(vote.voter, this.settings.account.publicKey);
  }

  /** Height of the target of the note on disk. */
  noteHeight(): number | undefined {
    const { note } = this.ports.disk.content;
    return readNote({ read: () => note }, 'note', this.owner, scheme)?.link.target;
  }

  private log(): Log {
    const tell = (event: string, fields: LogFields = {}) => {
      if (this.isAlive) this.ports.onLog(event, fields);
    };
    return { debug: tell, info: tell, warn: tell, error: tell };
  }
}

export function chainOf(head: ToyBlock): ToyBlock[] {
  const chain: ToyBlock[] = [];
  for (let at: ToyBlock | undefined = head; at !== undefined; at = at.parent) chain.unshift(at);
  return chain;
}

function provesOneOf(head: ToyBlock, proof: Uint8Array): boolean {
  const { height, id } = decodeFinalProof(proof, scheme).link.source;
  return chainOf(head).some((block) => block.height === height && equal(block.id, id));
}

export const isAncestor = (low: ToyBlock, high: ToyBlock): boolean => {
  let at: ToyBlock | undefined = high;
  while (at !== undefined && at.height > low.height) at = at.parent;
  return at === low;
};
