/** The node itself. */
import Type from 'typebox';
import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { Int32, Int64 } from '../body.ts';
import { isoDate } from '../iso-date.ts';
import { route } from '../route.ts';

const group = 'node';
const PRODUCT = 'platform-node';

const Fees = Type.Record(Type.String(), Int64);

const config = route({
  method: 'GET',
  path: '/node/config',
  access: 'public',
  group,
  doc: 'What a client must know of the network: its letter, its consensus, its fees.',
  reply: Type.Object({
    version: Type.String(),
    'platform-crypto': Type.Boolean(),
    gostCrypto: Type.Boolean(),
    chainId: Type.String(),
    consensus: Type.String(),
    minimumFee: Fees,
    additionalFee: Fees,
    blockTiming: Type.Record(Type.String(), Int32),
  }),
  handle: (_request, { node, scheme, consensus }) => ({
    version: node.version,
    'platform-crypto': node.platformCrypto,
    gostCrypto: !node.platformCrypto,
    chainId: String.fromCharCode(scheme.chainId),
    consensus: consensus.settings.kind.toUpperCase(),
    minimumFee: node.minimumFee,
    additionalFee: node.additionalFee,
    blockTiming: { ...node.blockTiming },
  }),
});

const version = route({
  method: 'GET',
  path: '/node/version',
  access: 'public',
  group,
  doc: 'Product and version.',
  reply: Type.Object({ version: Type.String() }),
  handle: (_request, { node }) => ({ version: `${PRODUCT} v${node.version}` }),
});

const status = route({
  method: 'GET',
  path: '/node/status',
  access: 'public',
  group,
  doc: 'Height of the chain and time of its last block; 503 while the store cannot be trusted.',
  reply: Type.Object({
    blockchainHeight: Int32,
    stateHeight: Int32,
    updatedTimestamp: Int64,
    updatedDate: Type.String(),
  }),
  handle(_request, { node, chain }) {
    const problem = node.problem();
    if (problem !== undefined) throw apiError('StatusCheckFailed', problem);
    const height = chain.height();
    const updatedTimestamp = chain.headerAt(height)?.timestamp ?? 0;
    return {
      blockchainHeight: height,
      stateHeight: height,
      updatedTimestamp,
      updatedDate: isoDate(updatedTimestamp),
    };
  },
});

const owner = route({
  method: 'GET',
  path: '/node/owner',
  access: 'public',
  group,
  doc: 'The account this node belongs to.',
  reply: Type.Object({ address: Type.String(), publicKey: Type.String() }),
  handle: (_request, { node, scheme }) => ({
    address: scheme.addressToText(node.owner.address),
    publicKey: base58.encode(node.owner.publicKey),
  }),
});

const stop = route({
  method: 'POST',
  path: '/node/stop',
  access: 'apiKey',
  group,
  doc: 'Stops the node in order.',
  reply: Type.Object({ stopped: Type.Boolean() }),
  handle(_request, { node, clock }) {
    // The answer must leave before the listener closes.
    clock.after(0, () => node.stop());
    return { stopped: true };
  },
});

export const node = { config, version, status, owner, stop };
