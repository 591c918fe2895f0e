/**
 * A transaction that waits in the pool. The pool keeps it as bytes, since objects for all fields
 * would take ten times the memory, and the garbage collector would copy them while they wait. Its id
 * is the key: as bytes it would take 230 bytes more. The bytes are a place in shared memory, since a
 * view that waits would take 96. An entry is the verdicts on its own bytes, since an object beside it
 * would take 56.
 */
import { fromLatin1, latin1 } from '../../base/bytes.ts';
import type { ContractImage } from '../../base/ports/containers.ts';
import { membersOf } from '../../tx/members.ts';
import { ProofVerdicts } from '../../tx/proof-verdicts.ts';
import type { Tx, TxType } from '../../tx/transaction.ts';
import { createContract } from '../../tx/types/103-create-contract.ts';
import { updateContract } from '../../tx/types/107-update-contract.ts';
import type { Counted } from './senders.ts';
import type { Spending } from './spending.ts';
import type { Ordered } from './time-order.ts';

/** What a miner has to know of a contract transaction inside an atomic one before it decodes that. */
export interface MemberContract {
  /** Its index among the members. */
  readonly index: number;
  readonly type: number;
  /** Contract id as Latin-1 text. */
  readonly key: string;
  /** The one that the member itself gives to the contract. */
  readonly image: ContractImage | undefined;
  /** Of a contract that the member itself makes; the creator as Latin-1 text. */
  readonly made: { readonly creator: string; readonly createVersion: number } | undefined;
}

export class PoolEntry extends ProofVerdicts implements Ordered, Counted {
  readonly key: string;
  readonly def: TxType;
  readonly timestamp: number;
  sender: string;
  native: bigint;
  assets: Spending['assets'];
  /** Where it takes something from others only, so that most entries are no larger. */
  others?: Spending['others'];
  sponsors?: Spending['sponsors'];
  /** The ids of its members as Latin-1 texts; of atomic transactions only. */
  readonly members?: readonly string[];
  /** The types of its members; of atomic transactions only. */
  readonly memberTypes?: ReadonlySet<number>;
  /** The contracts that execute its members, in their order; of atomic transactions only. */
  readonly memberContracts?: readonly MemberContract[];
  /** True once the listeners of the pool have received it. */
  announced = false;
  /** True for a transaction of a block that was rolled back. */
  readonly returned: boolean;
  /** The hash of the bytes as Latin-1 text, once it has been computed (bytes-index.ts). */
  bytesHash: string | undefined;
  removed = false;

  /** The bytes of `tx` are in memory that belongs to the pool. */
  constructor(
    tx: Tx,
    { key, sender, bytesHash }: EntryTexts,
    verdicts: ProofVerdicts,
    { native, assets, others, sponsors }: Spending,
    returned: boolean,
  ) {
    super(tx, verdicts);
    this.key = key;
    this.def = tx.def;
    this.timestamp = tx.timestamp;
    this.sender = sender;
    this.native = native;
    this.assets = assets;
    if (others !== undefined) this.others = others;
    if (sponsors !== undefined) this.sponsors = sponsors;
    if (tx.def.members !== undefined) {
      const members = membersOf(tx);
      this.members = members.map(({ id }) => latin1(id));
      this.memberTypes = new Set(members.map(({ type }) => type));
      this.memberContracts = contractsOf(members);
    }
    this.returned = returned;
    this.bytesHash = bytesHash;
  }

  /** The verdicts that were found while it waits. They serve the block that contains it, too. */
  get verdicts(): ProofVerdicts {
    return this;
  }
}

function contractsOf(members: readonly Tx[]): readonly MemberContract[] {
  const contracts: MemberContract[] = [];
  for (const [index, tx] of members.entries()) {
    const { type, def, version } = tx;
    const id = def.executable === true ? def.contract?.(tx) : undefined;
    if (id === undefined) continue;
    const isMade = type === createContract.type;
    const { image, imageHash } = tx.fields as unknown as ContractImage;
    contracts.push({
      index,
      type,
      key: latin1(id),
      image: isMade || type === updateContract.type ? { image, imageHash } : undefined,
      made: isMade ? { creator: latin1(tx.sender), createVersion: version } : undefined,
    });
  }
  return contracts;
}

export const idOf = (entry: PoolEntry): Uint8Array => fromLatin1(entry.key);

/** What names an entry, as Latin-1 texts: its id, its sender, and the hash of its bytes if known. */
export interface EntryTexts {
  readonly key: string;
  readonly sender: string;
  readonly bytesHash: string | undefined;
}

export const textsOf = (tx: Tx): EntryTexts => ({
  key: latin1(tx.id),
  sender: latin1(tx.sender),
  bytesHash: undefined,
});
