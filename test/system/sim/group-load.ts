/**
 * Users of a simulation who put contracts into atomic transactions: they create, call and change them
 * there, share members between groups that exclude each other, and let others put theirs in. What a
 * call does follows from its id (contracts.ts): some refuse, some answer late or never.
 */
import { equal } from '../../../src/base/bytes.ts';
import { contractOf } from '../../../src/ledger/contracts.ts';
import type { LedgerView } from '../../../src/ledger/ledger.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { transfer } from '../../../src/tx/types/004-transfer.ts';
import { createContract } from '../../../src/tx/types/103-create-contract.ts';
import { callContract } from '../../../src/tx/types/104-call-contract.ts';
import { disableContract } from '../../../src/tx/types/106-disable-contract.ts';
import { updateContract } from '../../../src/tx/types/107-update-contract.ts';
import { atomic } from '../../../src/tx/types/120-atomic.ts';
import { type Account, account } from '../../chain/chain-harness.ts';
import { type Attempt, type Scene, sign } from '../../generators/actions.ts';

/** They may create contracts from the first block on. */
export const groupSenders: readonly Account[] = ['ivan', 'jana', 'kurt'].map(account);

const IMAGES = [
  { image: 'sum:1', imageHash: 'ab'.repeat(32) },
  { image: 'sum:2', imageHash: 'cd'.repeat(32) },
] as const;
/** The newest ones; what older ones have is called by others (actions.ts). */
const CONTRACTS_MAX = 12;
const SHARED_ONE_IN = 6;

/** A contract that this group may use, as it is at that point. */
interface Usable {
  readonly id: Uint8Array;
  readonly creator: Account;
  version: number;
}

export class GroupLoad {
  private readonly scene: Scene;
  private contracts: { readonly id: Uint8Array; readonly creator: Account }[] = [];
  /** One member of each sender's last group. */
  private readonly earlier = new Map<Account, Tx>();
  private readonly sent: Tx[] = [];

  constructor(scene: Scene) {
    this.scene = scene;
  }

  /** All groups that a node has taken. */
  get accepted(): readonly Tx[] {
    return this.sent;
  }

  /** `view`: the state of some node, which knows what can be called. */
  next(view: LedgerView): Attempt {
    const { scene } = this;
    const { rng } = scene;
    const by = rng.pick(groupSenders);
    const usable = this.contracts.flatMap(({ id, creator }): Usable[] => {
      const contract = contractOf(view, id);
      return contract?.active === true ? [{ id, creator, version: contract.version }] : [];
    });
    const creates = usable.length < 2 || rng.chance(4);
    const created = creates ? this.creation(by) : undefined;
    if (created !== undefined) usable.push({ id: created.id, creator: by, version: 1 });
    const members = created === undefined ? [] : [created];
    for (let count = rng.between(1, 3); count > 0; count--) {
      const contract = created !== undefined && rng.chance(2) ? usable.at(-1)! : rng.pick(usable);
      members.push(...this.uses(contract, by));
    }
    if (rng.chance(2) || members.length < 2) {
      members.splice(rng.below(members.length + 1), 0, this.transfer(by));
    }
    return this.group(by, members, created);
  }

  private group(by: Account, members: Tx[], created: Tx | undefined): Attempt {
    const { scene, earlier, sent } = this;
    const { rng } = scene;
    const shared = earlier.get(by);
    if (shared !== undefined && rng.chance(SHARED_ONE_IN)) members.push(shared);
    earlier.set(by, rng.pick(members));
    const transactions = members.filter(
      (tx, i) => members.findIndex(({ id }) => equal(id, tx.id)) === i,
    );
    const tx = sign(scene, atomic, by, 1, { transactions });
    const accepted = (): void => {
      sent.push(tx);
      if (created === undefined) return;
      const contract = { id: created.id, creator: by };
      this.contracts = [...this.contracts, contract].slice(-CONTRACTS_MAX);
      scene.contracts.push({ ...contract, version: 1 });
    };
    return { tx, accepted };
  }

  private creation(by: Account): Tx {
    const about = { ...IMAGES[0], contractName: 'sum', params: [] };
    return sign(this.scene, createContract, by, 3, { ...about, ...badgeOf(by, by) });
  }

  /** A call, and now and then a change before it, or the end behind it. */
  private *uses(contract: Usable, by: Account): Generator<Tx> {
    const { scene } = this;
    const { rng } = scene;
    const { id: contractId, creator } = contract;
    if (rng.chance(6)) {
      const about = { ...rng.pick(IMAGES), contractId, ...badgeOf(creator, by) };
      yield sign(scene, updateContract, creator, 3, about);
      contract.version++;
    }
    const from = rng.chance(3) ? rng.pick(groupSenders) : by;
    const params = [{ key: 'value', type: 'integer', value: BigInt(rng.below(100)) }];
    const about = { contractId, params, contractVersion: contract.version };
    yield sign(scene, callContract, from, 4, { ...about, ...badgeOf(from, by) });
    if (!rng.chance(20)) return;
    yield sign(scene, disableContract, creator, 3, { contractId, ...badgeOf(creator, by) });
  }

  private transfer(by: Account): Tx {
    const { rng } = this.scene;
    const { address } = rng.pick(groupSenders);
    const about = {
      recipient: { kind: 'address', bytes: address },
      amount: BigInt(1 + rng.below(1e9)),
    };
    return sign(this.scene, transfer, by, 3, { ...about, ...badgeOf(by, by) });
  }
}

const badgeOf = (from: Account, by: Account) => {
  return { atomicBadge: { trustedSender: from === by ? undefined : by.address } };
};
