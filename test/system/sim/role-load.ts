/**
 * Permissioners and a connection manager who do what could end a chain: they give roles to crowds, for a
 * while, for later and for ever, register crowds of nodes, and take the role miner from the members, one
 * after the other and in all ways, until one is left.
 */
import { base58 } from '../../../src/base/base58.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { registerNode } from '../../../src/tx/types/111-register-node.ts';
import { type Account, account, signed } from '../../chain/chain-harness.ts';
import type { Dice } from './random.ts';
import type { ConsensusKind, Member } from './settings.ts';

/** Ends of roles and bans are so far ahead at most; then all is as it was, but for lost roles. */
export const TERM_MS_MAX = 100_000;
/** Later than any simulation lasts, and as early as a transaction may be. */
const LATER_MS = { from: 60 * 60_000, to: 85 * 60_000 };
const CROWD = 30;
/** Those of the crowd that are given the role at once; they have no nodes, so their turns are lost. */
const PHANTOMS = 2;

type Terms = {
  readonly opType: 'add' | 'remove';
  readonly role: string;
  readonly dueTimestamp?: number | undefined;
};

export class RoleLoad {
  private readonly dice: Dice;
  private readonly members: readonly Member[];
  /** Those whose role miner comes and goes. */
  private readonly targets: readonly Member[];
  private readonly crowd = Array.from({ length: CROWD }, (_, i) => account(`one of a crowd, ${i}`));
  /** No two transactions have the same time. */
  private serial = 0;

  /**
   * Under proof of stake two members stay miners: one whose clock was ahead has made blocks that were
   * taken back, and never makes others on their parents.
   */
  constructor(dice: Dice, members: readonly Member[], consensus: ConsensusKind) {
    this.dice = dice;
    this.members = members.filter(({ part }) => part === 'miner');
    this.targets = this.members.slice(consensus === 'pos' ? 2 : 0);
  }

  next(now: number): Tx {
    const kind = this.dice.below(10);
    if (kind < 3) return this.flood(now);
    return kind < 5 ? this.registration(now) : this.scheme(now);
  }

  private flood(now: number): Tx {
    const { dice, crowd } = this;
    const role = dice.pick(['miner', 'permissioner', 'connection_manager']);
    const opType = dice.happens(0.3) ? 'remove' : 'add';
    const later = now + dice.between(LATER_MS.from, LATER_MS.to);
    if (dice.happens(0.8)) return this.permit(dice.pick(crowd), { opType, role }, later);
    const dueTimestamp = opType === 'add' ? this.soon(now) : undefined;
    return this.permit(crowd[dice.below(PHANTOMS)]!, { opType, role, dueTimestamp }, now);
  }

  private registration(now: number): Tx {
    const { dice, crowd } = this;
    const { publicKey } = dice.pick(crowd);
    const opType = dice.pick(['add', 'add', 'remove']);
    const nodeName = opType === 'add' ? base58.encode(publicKey).slice(0, 8) : '';
    const input = { targetPubKey: publicKey, nodeName, opType, fee: registerNode.fee };
    return this.signed(registerNode, input, now);
  }

  /** The first member lets nodes in, so it keeps what that takes. */
  private scheme(now: number): Tx {
    const { dice, members, targets } = this;
    const others = targets.filter((member) => member !== members[0]);
    const { account: target } = dice.pick(targets);
    const way = dice.below(8);
    if (way < 3) return this.permit(target, { opType: 'remove', role: 'miner' }, now);
    if (way === 3) return this.permit(target, { opType: 'add', role: 'miner' }, now);
    if (way === 4) {
      return this.permit(
        target,
        { opType: 'add', role: 'miner', dueTimestamp: this.soon(now) },
        now,
      );
    }
    if (way === 5) {
      const at = now + dice.between(1, TERM_MS_MAX);
      return this.permit(target, { opType: dice.pick(['add', 'remove']), role: 'miner' }, at);
    }
    const { account: banned } = dice.pick(others);
    if (way === 6) return this.permit(banned, { opType: 'remove', role: 'banned' }, now);
    return this.permit(
      banned,
      { opType: 'add', role: 'banned', dueTimestamp: this.soon(now) },
      now,
    );
  }

  private soon(now: number): number {
    return now + this.dice.between(20_000, TERM_MS_MAX);
  }

  private permit({ address }: Account, terms: Terms, timestamp: number): Tx {
    const target = { kind: 'address', bytes: address } as const;
    const input = { dueTimestamp: undefined, ...terms, target, fee: permit.fee };
    return this.signed(permit, input, timestamp);
  }

  private signed(def: typeof permit | typeof registerNode, input: object, timestamp: number): Tx {
    const { account: from } = this.members[0]!;
    const time = timestamp - 500 + (this.serial++ % 500);
    return signed(def as typeof permit, from, { ...input, timestamp: time } as never, 1);
  }
}
