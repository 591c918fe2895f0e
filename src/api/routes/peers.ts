/** Peers and registered nodes. A node without network has no peers. */

import Type from 'typebox';
import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import { badField, Int64, json } from '../body.ts';
import { limits } from '../limits.ts';
import * as params from '../params.ts';
import { route } from '../route.ts';
import type { Peers, Services } from '../services.ts';

const group = 'peers';
const MAX_PORT = 65_535;

/** Throws ApiError NotAvailable. */
function network({ peers }: Services): Peers {
  if (peers === undefined) throw apiError('NotAvailable', 'The network');
  return peers;
}

const connect = route({
  method: 'POST',
  path: '/peers/connect',
  access: 'apiKey',
  group,
  doc: 'Dials another node; the answer does not wait for it.',
  body: json(
    Type.Object({
      host: Type.String(),
      port: Type.Unsafe<string | bigint>({ anyOf: [{ type: 'string' }, { type: 'integer' }] }),
    }),
  ),
  reply: Type.Object({ hostname: Type.String(), status: Type.String() }),
  async handle({ body: { host, port } }, services) {
    const number = Number(port);
    if (!Number.isInteger(number) || number < 1 || number > MAX_PORT) {
      throw badField('port', 'error.expected.int');
    }
    const hostname = await network(services).connect(host, number);
    return { hostname, status: 'Trying to connect' };
  },
});

const Connected = Type.Object({
  address: Type.String(),
  declaredAddress: Type.String(),
  peerName: Type.String(),
  peerNonce: Int64,
  applicationName: Type.String(),
  applicationVersion: Type.String(),
  applicationConsensus: Type.String(),
  nodeOwnerAddress: Type.String(),
});

const connected = route({
  method: 'GET',
  path: '/peers/connected',
  access: 'public',
  group,
  doc: 'Nodes with an open connection.',
  reply: Type.Object({ peers: Type.Array(Connected) }),
  handle: (_request, { peers }) => ({ peers: peers?.connected().slice(0, limits.peers) ?? [] }),
});

const all = route({
  method: 'GET',
  path: '/peers/all',
  access: 'public',
  group,
  doc: 'Known addresses of nodes.',
  reply: Type.Object({
    peers: Type.Array(Type.Object({ address: Type.String(), lastSeen: Int64 })),
  }),
  handle: (_request, { peers }) => ({ peers: peers?.all().slice(0, limits.peers) ?? [] }),
});

const Suspended = Type.Object({ hostname: Type.String(), timestamp: Int64 });

const suspended = route({
  method: 'GET',
  path: '/peers/suspended',
  access: 'public',
  group,
  doc: 'Addresses that are left alone for a while.',
  reply: Type.Array(Suspended),
  handle: (_request, { peers }) => peers?.suspended().slice(0, limits.peers) ?? [],
});

const blacklisted = route({
  method: 'GET',
  path: '/peers/blacklisted',
  access: 'public',
  group,
  doc: 'Addresses that misbehaved.',
  reply: Type.Array(Type.Object({ ...Suspended.properties, reason: Type.String() })),
  handle: (_request, { peers }) => peers?.blacklisted().slice(0, limits.peers) ?? [],
});

const clearBlacklist = route({
  method: 'POST',
  path: '/peers/clearblacklist',
  access: 'apiKey',
  group,
  doc: 'Forgives all misbehaviour.',
  reply: Type.Object({ result: Type.String() }),
  handle(_request, { peers }) {
    peers?.clearBlacklist();
    return { result: 'blacklist cleared' };
  },
});

const identity = route({
  method: 'POST',
  path: '/peers/identity',
  access: 'public',
  group,
  doc: 'Proves a registered node to this one; the answer is the key of this node.',
  body: json(Type.Object({ address: Type.String(), signature: Type.String() })),
  reply: Type.Object({ publicKey: Type.Optional(Type.String()) }),
  async handle({ body }, services) {
    const { bytes, text } = params.readAddress(body.address, services.scheme);
    if (services.peers?.handshakeCheck === false) return {};
    const signature = params.fromBase58(body.signature);
    if (signature === undefined) throw apiError('InvalidSignature');
    const caller = [...services.permissions.participants()].find(
      (node) => services.scheme.addressToText(node.address) === text,
    );
    if (caller === undefined) throw apiError('NotInNetwork', text);
    const message = Buffer.from(services.scheme.addressToText(bytes));
    const valid =
      signature.length === SIGNATURE_BYTES &&
      (await services.verifier.verifyOne(caller.publicKey, message, signature));
    if (!valid) throw apiError('InvalidSignature');
    return { publicKey: base58.encode(services.node.identity.publicKey) };
  },
});

const hostname = route({
  method: 'GET',
  path: '/peers/hostname/{address}',
  also: ['/privacy/hostname/{address}'],
  access: 'public',
  group,
  doc: 'Where the node of an owner is connected from.',
  params: { address: params.address },
  reply: Type.Object({
    connected: Type.Boolean(),
    hostname: Type.Optional(Type.String()),
    ip: Type.Optional(Type.String()),
  }),
  handle({ params: { address } }, { peers }) {
    const place = peers?.hostname(address.bytes);
    return place === undefined ? { connected: false } : { ...place, connected: true };
  },
});

const allowedNodes = route({
  method: 'GET',
  path: '/peers/allowedNodes',
  access: 'public',
  group,
  doc: 'Registered nodes.',
  reply: Type.Object({
    allowedNodes: Type.Array(Type.Object({ address: Type.String(), publicKey: Type.String() })),
    timestamp: Int64,
  }),
  handle: (_request, { permissions, scheme, clock }) => ({
    allowedNodes: Array.from(permissions.participants(), ({ address, publicKey }) => ({
      address: scheme.addressToText(address),
      publicKey: base58.encode(publicKey),
    })),
    timestamp: clock.now(),
  }),
});

export const peers = {
  connect,
  connected,
  all,
  suspended,
  blacklisted,
  clearBlacklist,
  identity,
  hostname,
  allowedNodes,
};
