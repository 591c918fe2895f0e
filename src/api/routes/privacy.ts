/**
 * Policies, and the doors to private data (rest-api.md §9). The lists are state of the chain;
 * without a storage the methods on data answer 613 once the key is right.
 */
import Type from 'typebox';
import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { Int32, Int64, json, optionalJson } from '../body.ts';
import { limits } from '../limits.ts';
import * as params from '../params.ts';
import { route } from '../route.ts';
import type { Services } from '../services.ts';
import type { PolicyView } from '../services-network.ts';
import { Transaction } from '../shapes.ts';

const group = 'privacy';
const Strings = Type.Array(Type.String());
const HASH_BYTES = 32;

/** Throws ApiError PolicyNotFound. */
function found(id: Uint8Array, { policies }: Services): PolicyView {
  const policy = policies.get(id);
  if (policy === undefined) throw apiError('PolicyNotFound');
  return policy;
}

const texts = (list: readonly Uint8Array[], { codec }: Services): string[] =>
  list.map((address) => codec.addressToText(address));

const Policy = Type.Object({
  policyId: Type.String(),
  policyName: Type.String(),
  policyDescription: Type.String(),
  policyDueDate: Type.Null(),
  policyRecipients: Strings,
  policyOwners: Strings,
});

const policyJson = (policy: PolicyView, services: Services) => ({
  policyId: base58.encode(policy.policyId),
  policyName: policy.name,
  policyDescription: policy.description,
  policyDueDate: null,
  policyRecipients: texts(policy.recipients, services),
  policyOwners: texts(policy.owners, services),
});

const list = route({
  method: 'GET',
  path: '/privacy/policies',
  access: 'public',
  group,
  doc: 'All policies.',
  reply: Type.Array(Policy),
  handle: (_request, services) =>
    Array.from(services.policies.list(), (policy) => policyJson(policy, services)),
});

const one = route({
  method: 'GET',
  path: '/privacy/{policyId}',
  access: 'public',
  group,
  doc: 'One policy.',
  params: { policyId: params.policyId },
  reply: Policy,
  handle: ({ params: { policyId } }, services) => policyJson(found(policyId, services), services),
});

const recipients = route({
  method: 'GET',
  path: '/privacy/{policyId}/recipients',
  access: 'public',
  group,
  doc: 'Addresses that receive the data of a policy.',
  params: { policyId: params.policyId },
  reply: Strings,
  handle: ({ params: { policyId } }, services) =>
    texts(found(policyId, services).recipients, services),
});

const owners = route({
  method: 'GET',
  path: '/privacy/{policyId}/owners',
  access: 'public',
  group,
  doc: 'Addresses that may change a policy.',
  params: { policyId: params.policyId },
  reply: Strings,
  handle: ({ params: { policyId } }, services) => texts(found(policyId, services).owners, services),
});

const hashes = route({
  method: 'GET',
  path: '/privacy/{policyId}/hashes',
  also: ['/privacy/{policyId}/getHashes'],
  access: 'public',
  group,
  doc: 'Hashes of the data that the chain knows of a policy.',
  params: { policyId: params.policyId },
  reply: Strings,
  handle({ params: { policyId } }, services) {
    found(policyId, services);
    return Array.from(services.policies.hashes(policyId), (hash) => base58.encode(hash));
  },
});

/** A node without storage says so; the storage itself is not part of this release. */
function noStorage({ policies }: Services): never {
  throw policies.storage ? apiError('NotAvailable', 'Private data') : apiError('PrivacyOff');
}

/** Base58 of 32 bytes, or 64 hex digits. */
const dataHash: params.Param<Uint8Array> = {
  doc: 'SHA-256 of the data in Base58 or hexadecimal.',
  schema: { type: 'string', maxLength: 64 },
  parse(text) {
    if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex');
    const bytes = params.fromBase58(text);
    if (bytes === undefined) {
      throw apiError('Invalid', `Failed to decode policy data hash: '${text}'`);
    }
    if (bytes.length !== HASH_BYTES) throw apiError('Invalid', 'Invalid policy data hash length');
    return bytes;
  },
};

const sendData = route({
  method: 'POST',
  path: '/privacy/sendData',
  access: 'privacyKey',
  group,
  doc: 'Stores private data of a policy and registers its hash on the chain.',
  maxBody: limits.body.sendData,
  query: { broadcast: params.optional(params.flag('false: only sign.'), true) },
  body: json(
    Type.Object({
      sender: Type.String(),
      password: Type.Optional(Type.String()),
      policyId: Type.String(),
      type: Type.Optional(Type.String()),
      info: Type.Unknown(),
      data: Type.String(),
      hash: Type.String(),
      fee: Type.Optional(Int64),
    }),
  ),
  reply: Transaction,
  handle: (_request, services) => noStorage(services),
});

const getData = route({
  method: 'GET',
  path: '/privacy/getData/{hash}',
  also: ['/privacy/getdata/{hash}'],
  access: 'privacyKey',
  group,
  doc: 'Private data as Base64.',
  params: { hash: dataHash },
  reply: Type.String(),
  handle: (_request, services) => noStorage(services),
});

const getInfo = route({
  method: 'GET',
  path: '/privacy/getInfo/{hash}',
  also: ['/privacy/getinfo/{hash}'],
  access: 'privacyKey',
  group,
  doc: 'What was stored beside private data.',
  params: { hash: dataHash },
  reply: Type.Unknown(),
  handle: (_request, services) => noStorage(services),
});

const getDataOf = route({
  method: 'GET',
  path: '/privacy/{policyId}/getData/{hash}',
  also: ['/privacy/{policyId}/getdata/{hash}'],
  access: 'privacyKey',
  group,
  doc: 'Private data of one policy as Base64.',
  params: { policyId: params.policyId, hash: dataHash },
  reply: Type.String(),
  handle: (_request, services) => noStorage(services),
});

const getInfoOf = route({
  method: 'GET',
  path: '/privacy/{policyId}/getInfo/{hash}',
  also: ['/privacy/{policyId}/getinfo/{hash}'],
  access: 'privacyKey',
  group,
  doc: 'What was stored beside private data of one policy.',
  params: { policyId: params.policyId, hash: dataHash },
  reply: Type.Unknown(),
  handle: (_request, services) => noStorage(services),
});

const forceSync = route({
  method: 'POST',
  path: '/privacy/forceSync',
  access: 'anyKey',
  group,
  doc: 'Fetches missing data of the policies this node belongs to.',
  body: optionalJson(
    Type.Object({
      policy: Type.Optional(Type.String()),
      address: Type.Optional(Type.String()),
    }),
  ),
  reply: Type.Object({
    result: Type.String(),
    message: Type.Optional(Type.String()),
    forceRestarted: Type.Optional(Int32),
  }),
  handle: (_request, services) => noStorage(services),
});

export const privacy = {
  list,
  one,
  recipients,
  owners,
  hashes,
  sendData,
  getData,
  getInfo,
  getDataOf,
  getInfoOf,
  forceSync,
};
