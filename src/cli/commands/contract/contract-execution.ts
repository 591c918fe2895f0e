/**
 * What became of a contract transaction: a miner has executed it, a contract has refused it, or it
 * could not be executed. Status records come from miners and may precede the block.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../../../base/json/json.ts';
import { visible } from '../../../base/visible.ts';
import { contracts } from '../../../rest/routes/contracts.ts';
import { transactions } from '../../../rest/routes/transactions.ts';
import { type Client, RefusedError } from '../../../rest-framework/client.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';

/** A value to print and, where it tells of a failure, the message and exit code for it. */
export interface Outcome {
  readonly value: unknown;
  readonly problem?: CliError;
}

const POLL_MS = 250;
/** A code of status Failure: miners try the transaction again. */
const RECOVERABLE = '1';

/** Waits for the execution of a transaction that was sent. Resolves when the time is over, too. */
export async function execution(node: Client, sent: JsonObject, seconds: number): Promise<Outcome> {
  const id = String(sent['id']);
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const executed = await executedBy(node, id);
    if (executed !== undefined) return { value: resultOf(id, executed) };
    const last = (await recordsOf(node, id)).findLast(({ status }) => status !== 'Success');
    if (last !== undefined && isFinal(last)) return { value: last, problem: problemOf(last) };
    if (Date.now() > deadline) {
      return last === undefined
        ? { value: sent, problem: new CliError(`No miner has executed ${id} after ${seconds} s`) }
        : { value: last, problem: problemOf(last) };
    }
    await pause(POLL_MS);
  }
}

/** What is known about a transaction. Rejects with RefusedError where the node knows nothing. */
export async function known(node: Client, id: string): Promise<JsonObject> {
  const executed = await executedBy(node, id);
  const records = await recordsOf(node, id);
  if (executed !== undefined) return { ...resultOf(id, executed), records };
  const last = records.at(-1);
  const said = last && { txId: id, status: last['status'], records };
  if (said !== undefined && said.status !== 'Success') return said;
  const pooled = node.call(transactions.unconfirmedInfo, { params: { id } });
  const waiting = await absentAs(pooled, undefined);
  // Where it does not wait again, the block of the success is on its way to this node.
  if (waiting === undefined && said !== undefined) return said;
  // Rejects with the node's words for an id that it has never seen.
  if (waiting === undefined) await node.call(contracts.status, { params: { id } });
  return { txId: id, status: 'Waiting', records, transaction: waiting };
}

function resultOf(txId: string, executed: JsonObject): JsonObject {
  const tx = (executed['tx'] ?? {}) as JsonObject;
  return {
    txId,
    contractId: tx['contractId'] ?? txId,
    status: 'Success',
    height: executed['height'],
    executedBy: executed['id'],
    miner: executed['sender'],
    results: executed['results'],
  };
}

const isFinal = (record: JsonObject): boolean =>
  record['status'] === 'Error' || String(record['code']) !== RECOVERABLE;

/** A contract words the message, and ends no line with it. */
function problemOf({ status, message, sender }: JsonObject): CliError {
  const said = `${visible(String(message))} (miner ${sender})`;
  return status === 'Error'
    ? new CliError(`The contract refused it: ${said}`, EXIT.refusedByContract)
    : new CliError(`It was not executed: ${said}`, EXIT.notExecuted);
}

const executedBy = (node: Client, id: string): Promise<JsonObject | undefined> =>
  absentAs(node.call(contracts.executedFor, { params: { id } }), undefined);

const recordsOf = (node: Client, id: string): Promise<readonly JsonObject[]> =>
  absentAs(node.call(contracts.status, { params: { id } }), []);

/** Status 404 says that there is nothing yet. */
async function absentAs<T, U>(answer: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await answer;
  } catch (cause) {
    if (cause instanceof RefusedError && cause.status === 404) return otherwise;
    throw cause;
  }
}
