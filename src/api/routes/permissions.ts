/** Permissions. */
import Type from 'typebox';
import { Int64, json } from '../body.ts';
import { limits } from '../limits.ts';
import * as params from '../params.ts';
import { inTurns, listOf, objectOf } from '../pieces.ts';
import { route } from '../route.ts';
import type { Services } from '../services.ts';
import { AddressList } from '../shapes.ts';

const group = 'permissions';

const Role = Type.Object({ role: Type.String(), dueTimestamp: Type.Optional(Int64) });
const Roles = Type.Object({ roles: Type.Array(Role), timestamp: Int64 });

function rolesAt(address: Uint8Array, timestamp: number, { permissions }: Services) {
  return permissions
    .roles(address, timestamp)
    .map(({ role, dueTimestamp }) =>
      dueTimestamp === undefined ? { role } : { role, dueTimestamp },
    );
}

const now = route({
  method: 'GET',
  path: '/permissions/{address}',
  access: 'public',
  group,
  doc: 'Roles of an address in force now.',
  params: { address: params.address },
  reply: Roles,
  handle({ params: { address } }, services) {
    const timestamp = services.clock.now();
    return { roles: rolesAt(address.bytes, timestamp, services), timestamp };
  },
});

const at = route({
  method: 'GET',
  path: '/permissions/{address}/at/{timestamp}',
  access: 'public',
  group,
  doc: 'Roles of an address in force at a time.',
  params: { address: params.address, timestamp: params.timestamp },
  reply: Roles,
  handle: ({ params: { address, timestamp } }, services) => ({
    roles: rolesAt(address.bytes, params.timeOf(timestamp), services),
    timestamp,
  }),
});

const ofMany = route({
  method: 'POST',
  path: '/permissions/addresses',
  access: 'public',
  group,
  doc: 'Roles of several addresses in force at a time, in the order of the request.',
  cost: { inTurns: true, rows: limits.listRows },
  body: json(Type.Object({ ...AddressList.properties, timestamp: Int64 })),
  reply: Type.Object({
    addressToRoles: Type.Array(Type.Object({ address: Type.String(), roles: Type.Array(Role) })),
    timestamp: Int64,
  }),
  handle({ body: { addresses, timestamp } }, services) {
    const read = addresses.map((text) => params.readAddress(text, services.scheme));
    return inTurns((of) => {
      const show = ({ text, bytes }: params.Address) => ({
        address: text,
        roles: rolesAt(bytes, params.timeOf(timestamp), of),
      });
      return objectOf([
        ['addressToRoles', listOf(read, show)],
        ['timestamp', [`${timestamp}`]],
      ]);
    });
  },
});

export const permissions = { now, at, ofMany };
