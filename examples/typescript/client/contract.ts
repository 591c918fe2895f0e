/**
 * Runs a contract: connects to the node, gives each transaction to the contract, and sends back its
 * results or its refusal. A contract needs nothing else of this folder.
 */
import { type Connection, connectTo, NodeError } from './grpc.ts';
import * as messages from './messages.ts';
import type { Message } from './protobuf.ts';

export type Value = bigint | boolean | string | Uint8Array;

/** Entries to store, by key. */
export type Results = { readonly [key: string]: Value };

export interface Transaction {
  readonly id: string;
  /** Address of the account that signed it. */
  readonly sender: string;
  readonly senderPublicKey: string;
  readonly contractId: string;
  readonly params: ReadonlyMap<string, Value>;
  /** Milliseconds since 1970 UTC, chosen by the sender. */
  readonly timestamp: number;
  /** The block that this transaction goes into. */
  readonly block: { readonly height: number; readonly timestamp: number };
}

/** The contract's own entries, with the results of all transactions before this one. */
export interface State {
  get(key: string): Promise<Value | undefined>;
  /** Entries whose whole keys match the regular expression, in the order of the keys. */
  matching(expression: string, limit?: number): Promise<ReadonlyMap<string, Value>>;
}

export interface Contract {
  create(transaction: Transaction, state: State): Results | Promise<Results>;
  call(transaction: Transaction, state: State): Results | Promise<Results>;
}

/** The contract says no: nothing is stored, and the sender gets this message. */
export class Refusal extends Error {
  override name = 'Refusal';
}

const CREATE = 103;
const KEY_ABSENT = 304;
const FATAL = 0;
const MATCHING_MAX = 1000;

const service = '/wavesenterprise.ContractService';
const connectMethod = {
  path: `${service}/Connect`,
  request: messages.connectionRequest,
  reply: messages.transactionResponse,
};
const success = {
  path: `${service}/CommitExecutionSuccess`,
  request: messages.successRequest,
  reply: {},
};
const failure = {
  path: `${service}/CommitExecutionError`,
  request: messages.errorRequest,
  reply: {},
};
const getKey = {
  path: `${service}/GetContractKey`,
  request: messages.keyRequest,
  reply: messages.keyResponse,
};
const getKeys = {
  path: `${service}/GetContractKeys`,
  request: messages.keysRequest,
  reply: messages.keysResponse,
};

/** Serves transactions until the node closes the connection. */
export async function serve(contract: Contract): Promise<void> {
  const { NODE = '', NODE_PORT = '', CONNECTION_ID = '', CONNECTION_TOKEN = '' } = process.env;
  const node = connectTo(NODE, NODE_PORT);
  const request = { connectionId: CONNECTION_ID };
  await node.stream(connectMethod, CONNECTION_TOKEN, request, (message) => {
    execute(contract, node, message).catch((error: Error) => {
      // The run is over for the node, for example because it took too long.
      console.error(`the result was not accepted: ${error.message}`);
    });
  });
}

async function execute(contract: Contract, node: Connection, message: Message): Promise<void> {
  const token = String(message['authToken']);
  const raw = message['transaction'] as Message;
  const transaction = transactionOf(raw, (message['block'] ?? {}) as Message);
  const txId = transaction.id;
  try {
    const run = raw['type'] === CREATE ? contract.create : contract.call;
    const results = await run(transaction, stateOf(transaction.contractId, node, token));
    await node.call(success, token, { txId, results: Object.entries(results).map(entryOf) });
  } catch (error) {
    if (!(error instanceof Refusal)) console.error(error);
    const text = error instanceof Error ? error.message : String(error);
    await node.call(failure, token, { txId, message: text, code: FATAL });
  }
}

function transactionOf(raw: Message, block: Message): Transaction {
  const text = (name: string): string => String(raw[name] ?? '');
  return {
    id: text('id'),
    sender: text('sender'),
    senderPublicKey: text('senderPublicKey'),
    contractId: text('contractId'),
    params: valuesOf(raw['params']),
    timestamp: Number(raw['timestamp'] ?? 0),
    block: { height: Number(block['height'] ?? 0), timestamp: Number(block['timestamp'] ?? 0) },
  };
}

function stateOf(contractId: string, node: Connection, token: string): State {
  return {
    async get(key) {
      try {
        const { entry } = await node.call(getKey, token, { contractId, key });
        return valueIn((entry ?? {}) as Message);
      } catch (error) {
        if (error instanceof NodeError && error.code === KEY_ABSENT) return undefined;
        throw error;
      }
    },
    async matching(expression, limit = MATCHING_MAX) {
      const query = { contractId, matches: { value: expression }, limit: { value: limit } };
      return valuesOf((await node.call(getKeys, token, query))['entries']);
    },
  };
}

const valuesOf = (entries: unknown): ReadonlyMap<string, Value> =>
  new Map(
    ((entries ?? []) as readonly Message[]).map((entry) => [
      String(entry['key'] ?? ''),
      valueIn(entry),
    ]),
  );

const valueIn = ({ integer, boolean, binary, string }: Message): Value =>
  (integer ?? boolean ?? binary ?? string) as Value;

function entryOf([key, value]: readonly [string, Value]): Message {
  if (typeof value === 'bigint') return { key, integer: value };
  if (typeof value === 'boolean') return { key, boolean: value };
  return typeof value === 'string' ? { key, string: value } : { key, binary: value };
}
