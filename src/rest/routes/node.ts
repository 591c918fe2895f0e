/** The node itself. */

import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { finalFloor } from '../../chain/finality/final-floor.ts';
import { headerRowAt } from '../../chain/store/stored-blocks.ts';
import { Int32, Int64 } from '../../rest-framework/body.ts';
import { isoDate } from '../../rest-framework/iso-date.ts';
import { Type } from '../../rest-framework/type.ts';
import { allTypes } from '../../tx/registry.ts';
import { routesIn } from '../route.ts';
import type { ConsensusSettings, Services } from '../services.ts';

const route = routesIn('node');
const PRODUCT = 'platform-node';

const Fees = Type.Record(Type.String(), Int64);

const config = route({
  method: 'GET',
  path: '/node/config',
  access: 'public',
  doc: 'What a client must know about the network: chain id, consensus, fees.',
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
  handle: (_request, { node, scheme, family, consensus, rules }) => ({
    version: node.version,
    'platform-crypto': family.platformCrypto,
    gostCrypto: !family.platformCrypto,
    chainId: String.fromCharCode(scheme.chainId),
    consensus: consensus.type.toUpperCase(),
    ...feesJson(rules),
    blockTiming: blockTiming(consensus),
  }),
});

function feesJson({ fees: { enabled, base, additional } }: Services['rules']) {
  const types = allTypes.map(({ type }) => type);
  const shown = (of: Iterable<number>, fees: ReadonlyMap<number, bigint>) =>
    Object.fromEntries(Array.from(of, (type) => [type, enabled ? (fees.get(type) ?? 0n) : 0n]));
  return { minimumFee: shown(types, base), additionalFee: shown(additional.keys(), additional) };
}

const blockTiming = (consensus: ConsensusSettings): Record<string, number> =>
  consensus.type === 'pos'
    ? { averageBlockDelay: consensus.averageBlockDelay.ms }
    : { roundDuration: consensus.roundDuration.ms, syncDuration: consensus.syncDuration.ms };

const version = route({
  method: 'GET',
  path: '/node/version',
  access: 'public',
  doc: 'Product and version.',
  reply: Type.Object({ version: Type.String() }),
  handle: (_request, { node }) => ({ version: `${PRODUCT} v${node.version}` }),
});

const status = route({
  method: 'GET',
  path: '/node/status',
  access: 'public',
  doc: 'Height of the chain and time of its last block; 503 while the store cannot be trusted.',
  reply: Type.Object({
    blockchainHeight: Int32,
    stateHeight: Int32,
    updatedTimestamp: Int64,
    updatedDate: Type.String(),
    finalHeight: Type.Optional(Int32),
  }),
  handle(_request, { node, view, height }) {
    const problem = node.problem();
    if (problem !== undefined) throw apiError('StatusCheckFailed', problem);
    const top = height();
    const finalHeight = finalFloor(view);
    const updatedTimestamp = headerRowAt(view, top)?.header.timestamp ?? 0;
    return {
      blockchainHeight: top,
      stateHeight: top,
      updatedTimestamp,
      updatedDate: isoDate(updatedTimestamp),
      ...(finalHeight === 0 ? {} : { finalHeight }),
    };
  },
});

const owner = route({
  method: 'GET',
  path: '/node/owner',
  access: 'public',
  doc: 'The account that owns this node.',
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
  doc: 'Stops the node in an orderly way.',
  reply: Type.Object({ stopped: Type.Boolean() }),
  handle(_request, { node, clock }) {
    // The answer must be sent before the listener closes.
    clock.after(0, () => node.stop());
    return { stopped: true };
  },
});

export const node = { config, version, status, owner, stop };
