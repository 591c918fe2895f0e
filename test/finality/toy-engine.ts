/** An engine on a toy chain, with one peer that keeps what it is sent. */
import { latin1 } from '../../src/base/bytes.ts';
import { voteFor } from '../../src/finality/carried.ts';
import type { Conflict } from '../../src/finality/conflicts.ts';
import { Finality, type Peer, type VoterKey } from '../../src/finality/finality.ts';
import { FIRST_NOTE } from '../../src/finality/note-file.ts';
import { rules } from '../../src/finality/rules.ts';
import type { TrackedBlock } from '../../src/finality/tracked-block.ts';
import { type SignedVote, voteBytes } from '../../src/finality/votes/vote.ts';
import { decidingOn, type VoterSet } from '../../src/finality/votes/voter-set.ts';
import { decodeVotes, encodeVotes } from '../../src/finality/votes/votes-message.ts';
import { family } from '../family.ts';
import { Dice } from '../system/sim/random.ts';
import { nodeClock, World } from '../system/sim/world.ts';
import { isAboveFinal } from './branch-order.ts';
import {
  accounts,
  genesisOf,
  makeBlock,
  type ToyBlock,
  trackedChild,
  trackedRoot,
} from './network/toy-chain.ts';
import { silent } from './schedule.ts';
import { scheme } from './vectors.ts';

const dice = new Dice(11);
export const ROUND_MS = 1000;

/** A vote with the key of the account, for a block or for what `changed` says. */
export function voteOf(
  name: number,
  block: TrackedBlock,
  genesis: ToyBlock,
  changed: Partial<SignedVote> = {},
): SignedVote {
  const { publicKey: voter, privateKey } = accounts[name - 1]!;
  const vote = {
    ...voteFor(block, decidingOn(block.deciding, scheme), genesis.id),
    ...changed,
  };
  return { ...vote, voter, signature: family.sign(privateKey, voteBytes(vote, scheme), dice) };
}

function voterKey(name: number): VoterKey {
  const { publicKey, privateKey } = accounts[name - 1]!;
  return {
    publicKey,
    sign: (message) => family.sign(privateKey, message, dice),
    disk: { read: () => undefined, replace: async () => {}, remove: async () => {} },
    note: FIRST_NOTE,
  };
}

export class ToyEngine {
  readonly world = new World(1_000_000);
  readonly root: ToyBlock;
  readonly index = new Map<string, TrackedBlock>();
  readonly engine: Finality;
  readonly sent: SignedVote[] = [];
  /** So many brought what was sent. */
  messages = 0;
  /** Proofs that it has sent to whoever connected. */
  readonly proved: Uint8Array[] = [];
  readonly saved: Uint8Array[] = [];
  /** Proofs of blocks that its chain lacked. */
  readonly ahead: Uint8Array[] = [];
  /** Accounts that are connected. */
  connected: readonly number[] = [];
  canSave = true;
  readonly conflicts: Conflict[] = [];
  headBlock: ToyBlock;
  checks = 0;

  /** `votes`: the account of the engine, which has never voted; 0: it does not vote. */
  constructor(set: VoterSet, maxRollback = 2, votes = 0, root = genesisOf(set)) {
    this.root = root;
    this.headBlock = this.root;
    const tracked = trackedRoot(this.root);
    this.index.set(tracked.id, tracked);
    this.engine = new Finality(
      { height: 1, id: this.root.id },
      { genesis: this.root.id, maxRollback, roundMs: ROUND_MS },
      {
        scheme,
        clock: nodeClock(this.world, 0),
        log: silent,
        verifier: {
          verify: async (items) => {
            this.checks += items.length;
            return items.map((one) => scheme.verify(one.publicKey, one.message, one.signature));
          },
        },
        rules,
        // As the index of a node, which looks at the height that a vote names.
        blocks: {
          get: (id, height) => {
            const block = this.index.get(id);
            return block?.checkpoint.height === height ? block : undefined;
          },
        },
        head: () => this.tracked(this.headBlock),
        peers: () => this.connected.map((name) => this.peer(name)),
        voter: votes === 0 ? undefined : voterKey(votes),
        saveProof: async (bytes) => {
          if (!this.canSave) throw new Error('the disk is full');
          const isOwn = this.isAboveFinal(this.tracked(this.headBlock));
          (isOwn ? this.saved : this.ahead).push(bytes);
          return isOwn;
        },
        onConflict: (found) => void this.conflicts.push(found),
        onChange: () => {},
      },
    );
    this.engine.start();
  }

  peer(name: number): Peer {
    return {
      voter: accounts[name - 1]!.publicKey,
      send: (bytes) => {
        this.messages += 1;
        this.sent.push(...decodeVotes(bytes, scheme));
      },
      prove: (bytes) => void this.proved.push(bytes),
    };
  }

  tracked(block: ToyBlock): TrackedBlock {
    return this.index.get(latin1(block.id))!;
  }

  isAboveFinal(block: TrackedBlock): boolean {
    return isAboveFinal(block, this.engine.tracker, this.index);
  }

  /** A block that is known; it carries what it may. */
  block(parent: ToyBlock, entitled = parent.entitled): ToyBlock {
    const carried = this.engine.tracker.toCarry(this.tracked(parent));
    const content = { timestamp: this.world.now, entitled, carried };
    const block = makeBlock(parent, accounts[0]!, content, dice);
    const tracked = trackedChild(block, this.tracked(parent), this.index);
    this.index.set(tracked.id, tracked);
    this.engine.added(tracked);
    return block;
  }

  follow(block: ToyBlock): ToyBlock {
    this.headBlock = block;
    this.engine.moved();
    return block;
  }

  /** These accounts vote for the block. */
  async votes(block: ToyBlock, ...names: readonly number[]): Promise<void> {
    for (const name of names) await this.offer(voteOf(name, this.tracked(block), this.root));
  }

  offer(...votes: readonly SignedVote[]) {
    return this.engine.receive(encodeVotes(votes, scheme), this.peer(1));
  }
}
