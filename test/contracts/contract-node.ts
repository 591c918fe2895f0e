/** A whole node in the process of the test whose contracts are functions. */
import { ApiError } from '../../src/base/errors.ts';
import type { Containers, ContractExecution, DataEntry } from '../../src/base/ports/containers.ts';
import { base58 } from '../../src/codec/text.ts';
import { contractEntries, contractOf } from '../../src/ledger/contracts.ts';
import type { DataValue } from '../../src/ledger/data-value.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { type Account, type WholeNode, type WholeOptions, wholeNode } from '../node/in-process.ts';
import {
  hashOfImage,
  integer,
  type Program,
  type SimulatedContainers,
  simulatedContainers,
  success,
} from '../simulated/containers.ts';
import type { Scope } from '../system/e2e/process.ts';

export interface ContractNode {
  readonly at: WholeNode;
  readonly containers: SimulatedContainers;
  readonly owner: Account;
  /** A 103 in the pool. */
  create(image: string, fields?: object): Promise<Tx>;
  /** A 104 in the pool. */
  call(contract: Tx, fields?: object): Promise<Tx>;
  /** The 103 in a block, its container ready for calls. */
  created(image: string): Promise<Tx>;
  /** The whole state of a contract. */
  state(contract: Tx): Record<string, DataValue['value']>;
  isActive(contract: Tx): boolean | undefined;
  /** `status code message` of each outcome that the node has reported. */
  statuses(tx: Tx): readonly string[];
  /** What a block executed, in its order. */
  executed(block: readonly Tx[]): readonly string[];
}

export const START_MS = 1_000;
export const TIMEOUT_MS = 3_000;

/** Adds the parameter `add` to what it has; every call sees the one before. */
export const sum: Program = ({ transaction, reads }) => {
  const before =
    transaction.data.kind === 'create'
      ? 0n
      : integerOf(() => reads.contractEntry(transaction.contractId, 'sum'));
  const add = transaction.params.find(({ key }) => key === 'add')?.value ?? 0n;
  return success(integer('sum', before + (add as bigint)));
};

export function integerOf(read: () => DataEntry): bigint {
  const entry = read();
  return entry.type === 'integer' ? entry.value : 0n;
}

/** The entry, or undefined where there is none. */
export function entryOrNone(
  { reads }: ContractExecution,
  contractId: string,
  key: string,
): DataEntry | undefined {
  try {
    return reads.contractEntry(contractId, key);
  } catch (cause) {
    if (cause instanceof ApiError && cause.code === 304) return undefined;
    throw cause;
  }
}

export interface ContractNodeOptions extends WholeOptions {
  readonly timeoutMs?: number;
  /** What the engine does otherwise. */
  readonly engine?: Partial<Containers>;
}

export async function contractNode(
  scope: Scope,
  programs: Readonly<Record<string, Program>>,
  { timeoutMs = TIMEOUT_MS, engine = {}, ...options }: ContractNodeOptions = {},
): Promise<ContractNode> {
  let containers: SimulatedContainers | undefined;
  const at = await wholeNode(scope, {
    ...options,
    set: ['docker-engine.enable=yes', ...(options.set ?? [])],
    around(ports) {
      containers = simulatedContainers({
        clock: ports.clock,
        programs,
        startMs: START_MS,
        timeoutMs,
        callMs: () => 0,
      });
      return {
        ...(options.around?.(ports) ?? ports),
        containers: Object.assign(Object.create(containers), engine),
      };
    },
  });
  const [owner] = at.accounts;
  const { view } = at.node.blockchain;
  const create = (image: string, fields: object = {}): Promise<Tx> =>
    at.send(owner, {
      type: 103,
      image,
      imageHash: hashOfImage(image),
      contractName: image,
      params: [],
      ...fields,
    });
  return {
    at,
    get containers() {
      return containers!;
    },
    owner,
    create,
    call: (contract, fields = {}) =>
      at.send(owner, { type: 104, contractId: base58.encode(contract.id), params: [], ...fields }),
    async created(image) {
      const contract = await create(image);
      for (let i = 0; i < 3 && contractOf(view, contract.id) === undefined; i++) await at.mine();
      return contract;
    },
    state: (contract) =>
      Object.fromEntries(
        Array.from(contractEntries(view, contract.id, 1000), ([key, { value }]) => [key, value]),
      ),
    isActive: (contract) => contractOf(view, contract.id)?.active,
    statuses: (tx) =>
      at.node.statuses
        .of(tx.id)
        .map(({ status, code, message }) => `${status} ${code ?? 'null'} ${message}`),
    executed: (block) =>
      block.flatMap((tx) => {
        const inner = tx.def.inner?.(tx);
        return inner === undefined ? [] : [base58.encode(inner.id)];
      }),
  };
}

export const add = (value: number): object => ({
  params: [{ key: 'add', type: 'integer', value }],
});
