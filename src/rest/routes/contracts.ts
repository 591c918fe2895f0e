/** Contracts: their records and states. */

import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { findTransaction } from '../../chain/store/stored-blocks.ts';
import {
  allContracts,
  type Contract,
  contractEntries,
  contractEntry,
  executedBy,
} from '../../ledger/contracts.ts';
import { Int32, json, list } from '../../rest-framework/body.ts';
import { listOf, mapped, objectOf, streamed } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { existingContract, isId } from '../by-id.ts';
import { StatusShape, statusJson } from '../contract-statuses.ts';
import {
  type EntriesQuery,
  EntryShape,
  entriesPage,
  entriesQuery,
  entryJson,
  queriedEntries,
} from '../data-entries.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { ChainView } from '../services.ts';
import { confirmedJson, Transaction } from '../shapes.ts';

const route = routesIn('contracts');

const ContractShape = Type.Object({
  contractId: Type.String(),
  image: Type.String(),
  imageHash: Type.String(),
  version: Int32,
  active: Type.Boolean(),
});

const recordJson = ([id, { image, imageHash, version, active }]: readonly [
  Uint8Array,
  Contract,
]) => ({
  contractId: base58.encode(id),
  image,
  imageHash,
  version,
  active,
});

const ALL: EntriesQuery = { offset: 0, limit: Infinity };

const entriesOf = (id: Uint8Array, query: EntriesQuery, { view }: ChainView) =>
  listOf(entriesPage(contractEntries(view, id, limits.entryRows), query), entryJson);

const all = route({
  method: 'GET',
  path: '/contracts',
  access: 'public',
  doc: 'All contracts.',
  reply: Type.Array(ContractShape),
  cost: { streamed: true, rows: limits.listRows },
  handle: () => streamed(({ view }) => listOf(allContracts(view, limits.entryRows), recordJson)),
});

const statesOfMany = route({
  method: 'POST',
  path: '/contracts',
  access: 'public',
  doc: 'States of up to 100 contracts, by id.',
  cost: { streamed: true, rows: limits.entryRows },
  body: json(Type.Object({ contracts: list(Type.String(), limits.contractIds) })),
  reply: Type.Record(Type.String(), Type.Array(EntryShape)),
  handle({ body }, services) {
    const ids = [...new Set(body.contracts)].map((text) => {
      const id = params.contractId.parse(text, services.scheme);
      existingContract(services.view, id);
      return [text, id] as const;
    });
    return streamed((of) =>
      objectOf(mapped(ids, ([text, id]) => [text, entriesOf(id, ALL, of)] as const)),
    );
  },
});

const status = route({
  method: 'GET',
  path: '/contracts/status/{id}',
  access: 'public',
  doc: 'How the execution of a contract transaction went, as far as this node knows.',
  params: { id: params.executableId },
  reply: Type.Array(StatusShape),
  handle({ params: { id } }, services) {
    const known = isId(id) ? services.statuses.of(id) : [];
    if (known.length === 0) throw apiError('ExecutionResultNotFound', base58.encode(id));
    return known.map((item) => statusJson(item, services));
  },
});

const executedFor = route({
  method: 'GET',
  path: '/contracts/executed-tx-for/{id}',
  access: 'public',
  doc: 'The transaction that carries the results of a contract transaction.',
  params: { id: params.executableId },
  reply: Transaction,
  handle({ params: { id } }, services) {
    const { view } = services;
    const executor = isId(id) ? executedBy(view, id) : undefined;
    const executed = executor && findTransaction(view, executor);
    if (executed === undefined) throw apiError('ExecutedNotFound', base58.encode(id));
    return confirmedJson(executed, services);
  },
});

const info = route({
  method: 'GET',
  path: '/contracts/info/{contractId}',
  access: 'public',
  doc: 'The record of a contract.',
  params: { contractId: params.contractId },
  reply: ContractShape,
  handle: ({ params: { contractId } }, services) =>
    recordJson([contractId, existingContract(services.view, contractId)]),
});

const state = route({
  method: 'GET',
  path: '/contracts/{contractId}',
  access: 'public',
  doc: 'State of a contract in the order of its keys.',
  cost: { streamed: true, rows: limits.entryRows },
  params: { contractId: params.contractId },
  query: entriesQuery,
  reply: Type.Array(EntryShape),
  handle({ params: { contractId }, query, http }, services) {
    existingContract(services.view, contractId);
    const rowsIn = (view: ChainView['view']) => contractEntries(view, contractId, limits.entryRows);
    return queriedEntries(rowsIn, query, http.remoteAddress(), services);
  },
});

const stateOfKeys = route({
  method: 'POST',
  path: '/contracts/{contractId}',
  access: 'public',
  doc: 'Entries of up to 100 keys; those that do not exist are left out.',
  params: { contractId: params.contractId },
  body: json(Type.Object({ keys: list(Type.String(), limits.contractKeys) })),
  reply: Type.Array(EntryShape),
  handle({ params: { contractId }, body: { keys } }, services) {
    existingContract(services.view, contractId);
    return keys.flatMap((key) => {
      const value = contractEntry(services.view, contractId, key);
      return value === undefined ? [] : [entryJson([key, value])];
    });
  },
});

const entry = route({
  method: 'GET',
  path: '/contracts/{contractId}/{key}',
  access: 'public',
  doc: 'One entry of a contract.',
  params: { contractId: params.contractId, key: params.text('Key of the entry.') },
  reply: EntryShape,
  handle({ params: { contractId, key } }, services) {
    existingContract(services.view, contractId);
    const value = contractEntry(services.view, contractId, key);
    if (value === undefined) throw apiError('NoDataForKey', key);
    return entryJson([key, value]);
  },
});

export const contracts = {
  list: all,
  statesOfMany,
  status,
  executedFor,
  info,
  state,
  stateOfKeys,
  entry,
};
