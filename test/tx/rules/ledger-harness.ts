/**
 * A chain of blocks without signatures and consensus. It applies the rules block by block to the
 * real tables, store and committer. Every mined block must keep the invariants.
 */
import assert from 'node:assert/strict';
import { equal, latin1 } from '../../../src/base/bytes.ts';
import { endlessSlice } from '../../../src/concurrency/time-slice.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import { accountOf } from '../../../src/ledger/accounts.ts';
import { assetBalance } from '../../../src/ledger/assets.ts';
import { recordHistory } from '../../../src/ledger/balance-history.ts';
import { type Committer, createCommitter } from '../../../src/ledger/commit/commit.ts';
import { type CommittedView, createCommittedView } from '../../../src/ledger/committed-view.ts';
import { brokenInvariants } from '../../../src/ledger/invariants.ts';
import { createOverlay, type KeyedOverlay } from '../../../src/ledger/overlay.ts';
import type { Role } from '../../../src/ledger/roles.ts';
import { stateHashes, tables, undo } from '../../../src/ledger/tables.ts';
import { Meter, RUN_UNITS_MAX } from '../../../src/script/evaluation/meter.ts';
import { buildTx } from '../../../src/tx/assemble.ts';
import {
  applyTransaction,
  applyUnjudged,
  blockContext,
  type Knowledge,
} from '../../../src/tx/pipeline.ts';
import type { ProofVerdicts } from '../../../src/tx/proof-verdicts.ts';
import { allTypes } from '../../../src/tx/registry.ts';
import {
  type BlockFees,
  closeBlock,
  type MinedContext,
  openBlock,
} from '../../../src/tx/rules/block-fees.ts';
import type { ChainRules, FeeSettings } from '../../../src/tx/rules/chain-rules.ts';
import type { ScriptRuns } from '../../../src/tx/scripts/script-runs.ts';
import type { Fields, Input, Tx, TxType } from '../../../src/tx/transaction.ts';
import { genesis } from '../../../src/tx/types/001-genesis.ts';
import { genesisPermit } from '../../../src/tx/types/101-genesis-permit.ts';
import { genesisRegisterNode } from '../../../src/tx/types/110-genesis-register-node.ts';
import { family } from '../../family.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';

export const GENESIS_TIME = 1_574_240_400_000;
export const BLOCK_MS = 10_000;
export const WEST = 100_000_000n;

export const scheme = createChainScheme(family, 'T'.charCodeAt(0));

export interface Actor {
  readonly publicKey: Uint8Array;
  readonly address: Uint8Array;
  readonly text: string;
  /** As a recipient. */
  readonly to: { readonly kind: 'address'; readonly bytes: Uint8Array };
}

/** An account named by a number. Its key signs nothing. */
export function actor(seed: number): Actor {
  const publicKey = new Uint8Array(scheme.publicKeySize).fill(seed + 1);
  const address = scheme.addressOf(publicKey);
  return {
    publicKey,
    address,
    text: scheme.addressToText(address),
    to: { kind: 'address', bytes: address },
  };
}

export const toAlias = (name: string) => ({ kind: 'alias', name }) as const;

export const defaultFees: FeeSettings = {
  enabled: true,
  base: new Map(allTypes.flatMap(({ type, fee }) => (fee === undefined ? [] : [[type, fee]]))),
  additional: new Map([
    [11, 1_000_000n],
    [12, 1_000_000n],
  ]),
  scriptExtra: 400_000n,
};

const REFERENCE_FEATURES = [3, 4, 5, 6, 7, 9, 10, 100, 101, 120];

export const defaultRules: ChainRules = {
  nativeToken: 'WEST',
  fees: defaultFees,
  txExpireTimeoutMs: 2 * 3_600_000,
  preActivatedFeatures: new Map(REFERENCE_FEATURES.map((id) => [id, 0])),
  featureCheckBlocks: 10,
  senderRoleEnabled: false,
};

export interface Genesis {
  readonly balances: readonly (readonly [Actor, bigint])[];
  readonly participants?: readonly (readonly [Actor, readonly Role[]])[];
  readonly rules?: Partial<ChainRules>;
}

export interface Harness {
  readonly rules: ChainRules;
  readonly head: CommittedView;
  readonly committer: Committer;
  /** The block in the making: its time is that of the last one plus ten seconds. */
  readonly draft: KeyedOverlay;
  readonly block: MinedContext;
  /** Time of the block in the making; may be set before the first transaction of a block. */
  now: number;
  /**
   * A transaction of the newest version that needs no later feature, unless one is asked for; fee
   * and time default to the minimum and to now.
   */
  make<F extends Fields>(def: TxType<F>, from: Actor, input: object, how?: Making): Tx;
  /** Applies to the block in the making. Throws ApiError. */
  apply(tx: Tx, known?: Judging): bigint;
  /** `make` and `apply`. */
  send<F extends Fields>(def: TxType<F>, from: Actor, input: object, how?: Making): Tx;
  /** Finishes and commits the block, then checks the invariants. */
  mine(generator?: Actor): Promise<void>;
  rollback(blocks: number): Promise<void>;
  /** Everything the store holds, as text. */
  dump(): readonly string[];
  balance(of: Actor, assetId?: Uint8Array): bigint;
  /** The message with which the transaction is refused; nothing of it may stay. */
  refusal(tx: Tx, known?: Judging): string;
}

/** What a test knows better than the harness; by default every proof is good. */
export interface Judging extends Partial<Knowledge> {
  readonly verdicts?: ProofVerdicts;
}

/** Each run has a budget of its own, and the block has none. */
const oneByOne: ScriptRuns = {
  begin: () => undefined,
  run: (_owner, script) => script(new Meter(RUN_UNITS_MAX)),
  readNew: (read) => void read(),
};

export interface Making {
  readonly version?: number;
  readonly proofs?: readonly Uint8Array[];
}

const SIGNATURE = new Uint8Array(64);
const miner = actor(200);

export async function createHarness(options: Genesis): Promise<Harness> {
  const rules = { ...defaultRules, ...options.rules };
  const store = createMemoryStore();
  const head = createCommittedView(store, scheme);
  const committer = createCommitter({
    store,
    head,
    tables,
    undo: undo.id,
    stateHashes: stateHashes.id,
    undoDepth: 2000,
    slice: endlessSlice,
  });
  const mined = new Map<string, { readonly tx: Tx; readonly height: number }>();
  const times: number[] = [];
  let initialBalance = 0n;
  let draft!: KeyedOverlay;
  let block!: MinedContext;
  let fees!: BlockFees;
  let own: Tx[] = [];
  let now = GENESIS_TIME;
  let generator = miner;

  function open(): void {
    draft = createOverlay(head);
    own = [];
    block = {
      ...blockContext(head, rules, {
        height: times.length + 1,
        timestamp: now,
        parentTimestamp: times.at(-1) ?? now,
      }),
      generator: generator.address,
    };
    fees = openBlock(draft, block);
  }

  function make<F extends Fields>(
    def: TxType<F>,
    from: Actor,
    input: object,
    how: Making = {},
  ): Tx {
    const usable = def.layouts.filter(
      ({ feature, version }) =>
        (how.version === undefined || how.version === version) &&
        (how.version !== undefined || feature === undefined || feature < 100),
    );
    const layout = how.version === undefined ? usable.at(-1) : usable[0];
    assert(layout !== undefined, `a layout of ${def.name}`);
    const values = {
      chainId: scheme.chainId,
      attachment: new Uint8Array(),
      senderPublicKey: from.publicKey,
      fee: def.fee,
      timestamp: now,
      ...input,
    };
    // Tests name fields freely; what is missing shows when the bytes are written.
    const proofs = layout.frame === 'genesis' ? [] : (how.proofs ?? [SIGNATURE]);
    return buildTx(def, layout, values as unknown as Input<F>, proofs, scheme) as unknown as Tx;
  }

  function apply(tx: Tx, { verdicts, ...others }: Judging = {}): bigint {
    const find = (id: Uint8Array) => {
      const inBlock = own.find((other) => equal(other.id, id));
      const found =
        inBlock === undefined ? mined.get(latin1(id)) : { tx: inBlock, height: block.height };
      if (found === undefined) return undefined;
      const { tx: other, height } = found;
      return { height, size: other.bytes.length, tx: () => other };
    };
    const heightOf = (id: Uint8Array) => find(id)?.height;
    const known = { heightOf, find, scripts: oneByOne, ...others };
    // Most tests sign nothing.
    const earned =
      verdicts === undefined
        ? applyUnjudged(tx, draft, block, known)
        : applyTransaction(tx, verdicts, draft, block, known);
    fees.add(earned);
    own.push(tx);
    return earned;
  }

  async function mine(next: Actor = miner): Promise<void> {
    closeBlock(draft, block, fees);
    await recordHistory(draft, block.height);
    await committer.commit({ blocks: [{ height: block.height, overlay: draft }] });
    for (const tx of own) mined.set(latin1(tx.id), { tx, height: block.height });
    times.push(block.timestamp);
    assert.deepEqual(brokenInvariants(head, initialBalance), []);
    now = block.timestamp + BLOCK_MS;
    generator = next;
    open();
  }

  async function rollback(blocks: number): Promise<void> {
    const from = times.length;
    await committer.commit({ unwound: await committer.unwind(from, from - blocks), blocks: [] });
    times.length -= blocks;
    for (const [id, { height }] of mined) if (height > times.length) mined.delete(id);
    assert.deepEqual(brokenInvariants(head, initialBalance), []);
    open();
  }

  const dumpRows = (): readonly string[] =>
    store
      .dump()
      .map(({ table, key, value }) => `${table} ${latin1(key)} ${latin1(value ?? key)}`)
      .sort();

  const harness: Harness = {
    rules,
    head,
    committer,
    get draft() {
      return draft;
    },
    get block() {
      return block;
    },
    get now() {
      return now;
    },
    set now(time) {
      now = time;
      open();
    },
    make,
    apply,
    send(def, from, input, how) {
      const tx = make(def, from, input, how);
      apply(tx);
      return tx;
    },
    mine,
    rollback,
    dump: dumpRows,
    balance: ({ address }, assetId) =>
      assetId === undefined
        ? accountOf(draft, address).balance
        : assetBalance(draft, address, assetId),
    refusal(tx, known) {
      const before = rowsOfDraft(draft);
      let message: string | undefined;
      try {
        apply(tx, known);
      } catch (error) {
        message = (error as Error).message;
      }
      assert(message !== undefined, `${tx.def.name} should have been refused`);
      assert.deepEqual(rowsOfDraft(draft), before, 'a refused transaction leaves no trace');
      return message.replace('State check failed. Reason: ', '');
    },
  };

  open();
  let step = 0;
  for (const [{ address }, amount] of options.balances) {
    initialBalance += amount;
    apply(make(genesis, miner, { recipient: address, amount, timestamp: GENESIS_TIME }));
  }
  for (const [participant, roles] of options.participants ?? []) {
    apply(make(genesisRegisterNode, miner, { targetPublicKey: participant.publicKey }));
    for (const role of roles) {
      step++;
      apply(
        make(genesisPermit, miner, {
          target: participant.address,
          role,
          timestamp: GENESIS_TIME - step,
        }),
      );
    }
  }
  await mine();
  return harness;
}

function rowsOfDraft(draft: KeyedOverlay): readonly unknown[] {
  return [...draft.changes()].map(({ table, text, after }) => [table.id, text, after]);
}
