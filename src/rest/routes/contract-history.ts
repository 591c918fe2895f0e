/** The past of a contract: its versions, its calls, and what failed. */

import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { transactionsOfContract } from '../../chain/store/stored-blocks.ts';
import { CALL, CHANGE } from '../../ledger/tables.ts';
import { listOf, streamed } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { existingContract, transactionById } from '../by-id.ts';
import { StatusShape, statusJson } from '../contract-statuses.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import { confirmedJson, Transaction } from '../shapes.ts';

const route = routesIn('contracts');

const versions = route({
  method: 'GET',
  path: '/contracts/versions/{contractId}',
  access: 'public',
  doc: 'What made, changed and ended a contract, newest first, at most 100 transactions.',
  cost: { streamed: true },
  params: { contractId: params.contractId },
  reply: Type.Array(Transaction),
  handle({ params: { contractId } }, services) {
    existingContract(services.view, contractId);
    return streamed((of) =>
      listOf(transactionsOfContract(of.view, contractId, CHANGE, limits.contractHistory), (found) =>
        confirmedJson(found, of),
      ),
    );
  },
});

const calls = route({
  method: 'GET',
  path: '/contracts/calls/{contractId}',
  access: 'public',
  doc: 'Results of the calls of a contract, newest first, at most 100.',
  cost: { streamed: true },
  params: { contractId: params.contractId },
  query: {
    limit: params.optional(params.positive('The most results to list.'), limits.contractHistory),
    after: params.optional(params.executableId, undefined),
  },
  reply: Type.Array(Transaction),
  handle({ params: { contractId }, query: { limit, after } }, services) {
    existingContract(services.view, contractId);
    const most = Math.min(limit, limits.contractHistory);
    const isKnown = after === undefined || transactionById(services.view, after) !== undefined;
    if (!isKnown) throw apiError('ExecutedNotFound', base58.encode(after));
    return streamed((of) => {
      const below = after && transactionById(of.view, after);
      const found = transactionsOfContract(of.view, contractId, CALL, most, below);
      return listOf(found, (one) => confirmedJson(one, of));
    });
  },
});

const failures = route({
  method: 'GET',
  path: '/contracts/failures/{contractId}',
  access: 'public',
  doc: 'What miners say of transactions of a contract that did not succeed within an hour, newest first, at most 100.',
  params: { contractId: params.contractId },
  reply: Type.Array(StatusShape),
  // A contract whose creation failed has no record.
  handle: ({ params: { contractId } }, services) =>
    services.statuses
      .failuresOf(contractId, limits.contractHistory)
      .map((one) => statusJson(one, services)),
});

export const contractHistory = { versions, calls, failures };
