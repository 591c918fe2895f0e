/** Peers and registered nodes. A node without network has no peers. */

import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import { participantOf, participantsInOrder } from '../../ledger/participants.ts';
import { badField, Int64, json } from '../../rest-framework/body.ts';
import { listOf, objectOf, streamed } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { limits } from '../limits.ts';
import { hostText, knownJson, sessionJson } from '../peer-json.ts';
import { routesIn } from '../route.ts';
import type { PeersPort, Services } from '../services.ts';

const route = routesIn('peers');
const MAX_PORT = 65_535;

/** Throws ApiError NotAvailable. */
function network({ peers }: Services): PeersPort {
  if (peers === undefined) throw apiError('NotAvailable', 'The network');
  return peers;
}

const connect = route({
  method: 'POST',
  path: '/peers/connect',
  access: 'apiKey',
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
    const { connect } = network(services);
    try {
      await connect({ host, port: number });
    } catch {
      throw apiError('Invalid', `The host '${host}' has no address`);
    }
    return { hostname: host, status: 'Trying to connect' };
  },
});

/** The answer shows at most this many of a list. */
const firstOf = <T>(list: readonly T[] = []): readonly T[] => list.slice(0, limits.peers);

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
  doc: 'Nodes with an open connection.',
  reply: Type.Object({ peers: Type.Array(Connected) }),
  handle: (_request, services) => ({
    peers: firstOf(services.peers?.sessions.all()).map((one) => sessionJson(one, services)),
  }),
});

const all = route({
  method: 'GET',
  path: '/peers/all',
  access: 'public',
  doc: 'Known addresses of nodes.',
  reply: Type.Object({
    peers: Type.Array(Type.Object({ address: Type.String(), lastSeen: Int64 })),
  }),
  handle: (_request, { peers }) => ({
    peers: firstOf(peers?.book.known()).map((place) => knownJson(place, peers!)),
  }),
});

const Suspended = Type.Object({ hostname: Type.String(), timestamp: Int64 });

const suspended = route({
  method: 'GET',
  path: '/peers/suspended',
  access: 'public',
  doc: 'Addresses that the node does not dial for a while.',
  reply: Type.Array(Suspended),
  handle: (_request, { peers }) =>
    firstOf(peers?.penalties.suspended()).map(({ place, since }) => ({
      hostname: hostText(place),
      timestamp: since,
    })),
});

const blacklisted = route({
  method: 'GET',
  path: '/peers/blacklisted',
  access: 'public',
  doc: 'Addresses that misbehaved.',
  reply: Type.Array(Type.Object({ ...Suspended.properties, reason: Type.String() })),
  handle: (_request, { peers }) =>
    firstOf(peers?.penalties.blacklisted()).map(({ host, since, reason }) => ({
      hostname: `/${host}`,
      timestamp: since,
      reason,
    })),
});

const clearBlacklist = route({
  method: 'POST',
  path: '/peers/clearblacklist',
  access: 'apiKey',
  doc: 'Clears the blacklist.',
  reply: Type.Object({ result: Type.String() }),
  handle(_request, { peers }) {
    peers?.penalties.clearBlacklist();
    return { result: 'blacklist cleared' };
  },
});

const identity = route({
  method: 'POST',
  path: '/peers/identity',
  access: 'public',
  doc: 'Proves a registered node to this one; the answer is the key of this node.',
  body: json(Type.Object({ address: Type.String(), signature: Type.String() })),
  reply: Type.Object({ publicKey: Type.Optional(Type.String()) }),
  async handle({ body }, services) {
    const { bytes, text } = params.readAddress(body.address, services.scheme);
    if (services.peers?.handshakeCheck === false) return {};
    const signature = params.fromBase58(body.signature);
    if (signature === undefined) throw apiError('InvalidSignature');
    const caller = participantOf(services.view, bytes);
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
  doc: 'The name that the connected node of an owner declares, and the address that it calls from.',
  params: { address: params.address },
  reply: Type.Object({
    connected: Type.Boolean(),
    hostname: Type.Optional(Type.String()),
    ip: Type.Optional(Type.String()),
  }),
  handle({ params: { address } }, { peers }) {
    const session = peers?.sessions.of(address.bytes);
    if (session === undefined) return { connected: false };
    const { declaredAddress, remoteHost: ip } = session;
    return { hostname: declaredAddress?.host ?? ip, ip, connected: true };
  },
});

const allowedNodes = route({
  method: 'GET',
  path: '/peers/allowedNodes',
  access: 'public',
  doc: 'Registered nodes.',
  reply: Type.Object({
    allowedNodes: Type.Array(Type.Object({ address: Type.String(), publicKey: Type.String() })),
    timestamp: Int64,
  }),
  cost: { streamed: true, rows: limits.listRows },
  handle: () =>
    streamed(function* ({ view, scheme, clock }) {
      const nodes = yield* participantsInOrder(view);
      const shown = listOf(nodes, ([address, { publicKey }]) => ({
        address: scheme.addressToText(address),
        publicKey: base58.encode(publicKey),
      }));
      yield* objectOf([
        ['allowedNodes', shown],
        ['timestamp', [`${clock.now()}`]],
      ]);
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
