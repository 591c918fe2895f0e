/** Features and leases (rest-api.md §18). */
import Type from 'typebox';
import { print, printed } from '../answer.ts';
import { Int32 } from '../body.ts';
import * as params from '../params.ts';
import { route } from '../route.ts';
import { confirmedJson, Transaction } from '../shapes.ts';

const Feature = Type.Object({
  id: Int32,
  description: Type.String(),
  blockchainStatus: Type.String(),
  nodeStatus: Type.String(),
  activationHeight: Type.Optional(Int32),
  supportingBlocks: Type.Optional(Int32),
});

const status = route({
  method: 'GET',
  path: '/activation/status',
  access: 'public',
  group: 'activation',
  doc: 'State of the features of the protocol.',
  reply: Type.Object({
    height: Int32,
    votingInterval: Int32,
    votingThreshold: Int32,
    nextCheck: Int32,
    features: Type.Array(Feature),
  }),
  handle: (_request, { activation }) => printed(print(activation.status())),
});

const active = route({
  method: 'GET',
  path: '/leasing/active/{address}',
  access: 'public',
  group: 'leasing',
  doc: 'Leases in force that an address gave or received, newest first.',
  params: { address: params.address },
  reply: Type.Array(Transaction),
  handle: ({ params: { address } }, services) =>
    printed(
      print(services.leases.active(address.bytes).map((item) => confirmedJson(item, services))),
    ),
});

export const activation = { status };
export const leasing = { active };
