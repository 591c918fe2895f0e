/** Features and leases. */

import { activationStatus } from '../../chain/features/feature-activation.ts';
import { findTransaction } from '../../chain/store/stored-blocks.ts';
import { activeLeasesOf } from '../../ledger/leases.ts';
import { print, printed } from '../../rest-framework/answer.ts';
import { Int32 } from '../../rest-framework/body.ts';
import { listOf, mapped, streamed } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { Services } from '../services.ts';
import { confirmedJson, Transaction } from '../shapes.ts';

const Feature = Type.Object({
  id: Int32,
  description: Type.String(),
  blockchainStatus: Type.String(),
  nodeStatus: Type.String(),
  activationHeight: Type.Optional(Int32),
  supportingBlocks: Type.Optional(Int32),
});

const status = routesIn('activation')({
  method: 'GET',
  path: '/activation/status',
  access: 'public',
  doc: 'State of the features of the protocol.',
  reply: Type.Object({
    height: Int32,
    votingInterval: Int32,
    votingThreshold: Int32,
    nextCheck: Int32,
    features: Type.Array(Feature),
  }),
  handle: (_request, { view, height, rules, features }) =>
    printed(print(activationStatus(view, height(), rules, features))),
});

const active = routesIn('leasing')({
  method: 'GET',
  path: '/leasing/active/{address}',
  access: 'public',
  doc: 'Leases in force that an address gave or received, newest first.',
  params: { address: params.address },
  reply: Type.Array(Transaction),
  cost: { streamed: true, rows: limits.listRows },
  handle: ({ params: { address } }) =>
    streamed((services) =>
      listOf(leasesOf(address.bytes, services), (item) => confirmedJson(item, services)),
    ),
});

function leasesOf(address: Uint8Array, { view }: Services) {
  const ids = activeLeasesOf(view, address, limits.entryRows);
  return mapped(ids, (id) => findTransaction(view, id));
}

export const activation = { status };
export const leasing = { active };
