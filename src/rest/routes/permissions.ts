/** Permissions. */

import { assert } from '../../base/assert.ts';
import { rolesAt } from '../../ledger/permissions.ts';
import { roleName } from '../../ledger/roles.ts';
import { Int64, json } from '../../rest-framework/body.ts';
import { listOf, objectOf, streamed } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { ChainView } from '../services.ts';
import { AddressList } from '../shapes.ts';

const route = routesIn('permissions');

const Role = Type.Object({ role: Type.String(), dueTimestamp: Type.Optional(Int64) });
const Roles = Type.Object({ roles: Type.Array(Role), timestamp: Int64 });

function rolesJson(address: Uint8Array, timestamp: number, { view }: ChainView) {
  return rolesAt(view, address, timestamp).map(({ role, due }) => {
    const name = roleName(role);
    assert(name !== undefined, `role ${role} has a name`);
    return due === undefined ? { role: name } : { role: name, dueTimestamp: due };
  });
}

const now = route({
  method: 'GET',
  path: '/permissions/{address}',
  access: 'public',
  doc: 'Roles of an address in force now.',
  params: { address: params.address },
  reply: Roles,
  handle({ params: { address } }, services) {
    const timestamp = services.clock.now();
    return { roles: rolesJson(address.bytes, timestamp, services), timestamp };
  },
});

const at = route({
  method: 'GET',
  path: '/permissions/{address}/at/{timestamp}',
  access: 'public',
  doc: 'Roles of an address in force at a time.',
  params: { address: params.address, timestamp: params.timestamp },
  reply: Roles,
  handle: ({ params: { address, timestamp } }, services) => ({
    roles: rolesJson(address.bytes, params.timeOf(timestamp), services),
    timestamp,
  }),
});

const ofMany = route({
  method: 'POST',
  path: '/permissions/addresses',
  access: 'public',
  doc: 'Roles of several addresses in force at a time, in the order of the request.',
  cost: { streamed: true, rows: limits.listRows },
  body: json(Type.Object({ ...AddressList.properties, timestamp: Int64 })),
  reply: Type.Object({
    addressToRoles: Type.Array(Type.Object({ address: Type.String(), roles: Type.Array(Role) })),
    timestamp: Int64,
  }),
  handle({ body: { addresses, timestamp } }, services) {
    const read = addresses.map((text) => params.readAddress(text, services.scheme));
    return streamed((of) => {
      const show = ({ text, bytes }: params.Address) => ({
        address: text,
        roles: rolesJson(bytes, params.timeOf(timestamp), of),
      });
      return objectOf([
        ['addressToRoles', listOf(read, show)],
        ['timestamp', [`${timestamp}`]],
      ]);
    });
  },
});

export const permissions = { now, at, ofMany };
