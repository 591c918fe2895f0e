/**
 * Policies, and access to private data. The lists are state of the chain. On a node without storage
 * the methods on data answer 613, after the check of the key.
 */

import { base58 } from '../../base/base58.ts';
import { base64Length, encodeBase64 } from '../../base/base64.ts';
import { apiError } from '../../base/errors.ts';
import type { HttpRequest } from '../../base/ports/http.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import {
  allPolicies,
  hashesOf,
  type MemberKind,
  membersOf,
  OWNER,
  type Policy,
  RECIPIENT,
} from '../../ledger/policies.ts';
import { hashOf, policyIdOf } from '../../privacy/sending/data-to-send.ts';
import { Answer, JSON_TYPE, print } from '../../rest-framework/answer.ts';
import { Int32, Int64, jsonAround, optionalJson } from '../../rest-framework/body.ts';
import { joined, listOf, mapped, objectOf, streamed } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { txToJson } from '../../tx/json/encode.ts';
import { policyById } from '../by-id.ts';
import { requireSigner } from '../guards.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { ChainView, Services } from '../services.ts';
import { Transaction } from '../shapes.ts';

const route = routesIn('privacy');
const Strings = Type.Array(Type.String());

/** Throws ApiError PolicyNotFound. */
function found(id: Uint8Array, { view }: ChainView): Policy {
  const policy = policyById(view, id);
  if (policy === undefined) throw apiError('PolicyNotFound');
  return policy;
}

function* members(id: Uint8Array, kind: MemberKind, { view, scheme }: Services) {
  yield* listOf(yield* membersOf(view, id, kind), scheme.addressToText);
}

const membersCost = { streamed: true, rows: limits.listRows };

const PolicyShape = Type.Object({
  policyId: Type.String(),
  policyName: Type.String(),
  policyDescription: Type.String(),
  policyDueDate: Type.Null(),
  policyRecipients: Strings,
  policyOwners: Strings,
});

const policyChunks = (id: Uint8Array, { name, description }: Policy, services: Services) =>
  objectOf([
    ['policyId', [print(base58.encode(id))]],
    ['policyName', [print(name)]],
    ['policyDescription', [print(description)]],
    ['policyDueDate', ['null']],
    ['policyRecipients', members(id, RECIPIENT, services)],
    ['policyOwners', members(id, OWNER, services)],
  ]);

const list = route({
  method: 'GET',
  path: '/privacy/policies',
  access: 'public',
  doc: 'All policies.',
  reply: Type.Array(PolicyShape),
  cost: { streamed: true, rows: limits.listRows },
  handle: () =>
    streamed((services) =>
      joined(
        mapped(allPolicies(services.view, limits.entryRows), ([id, policy]) =>
          policyChunks(id, policy, services),
        ),
      ),
    ),
});

const one = route({
  method: 'GET',
  path: '/privacy/{policyId}',
  access: 'public',
  doc: 'One policy.',
  params: { policyId: params.policyId },
  reply: PolicyShape,
  cost: membersCost,
  handle({ params: { policyId } }, services) {
    const policy = found(policyId, services);
    return streamed((of) => policyChunks(policyId, policy, of));
  },
});

const membersRoute = (path: string, doc: string, kind: MemberKind) =>
  route({
    method: 'GET',
    path,
    access: 'public',
    doc,
    params: { policyId: params.policyId },
    reply: Strings,
    cost: membersCost,
    handle({ params: { policyId } }, services) {
      found(policyId, services);
      return streamed((of) => members(policyId, kind, of));
    },
  });

const recipients = membersRoute(
  '/privacy/{policyId}/recipients',
  'Addresses that receive the data of a policy.',
  RECIPIENT,
);

const owners = membersRoute(
  '/privacy/{policyId}/owners',
  'Addresses that may change a policy.',
  OWNER,
);

const hashes = route({
  method: 'GET',
  path: '/privacy/{policyId}/hashes',
  also: ['/privacy/{policyId}/getHashes'],
  access: 'public',
  doc: 'Hashes of the data of a policy, as recorded on the chain.',
  cost: { streamed: true, rows: limits.entryRows },
  params: { policyId: params.policyId },
  reply: Strings,
  handle({ params: { policyId } }, services) {
    found(policyId, services);
    return streamed(({ view }) =>
      listOf(hashesOf(view, policyId, limits.entryRows), base58.encode),
    );
  },
});

/** Throws ApiError PrivacyOff where this node keeps no data. */
function storage({ privacy }: Services) {
  if (privacy === undefined) throw apiError('PrivacyOff');
  return privacy;
}

const dataHash: params.Param<Uint8Array> = {
  doc: 'SHA-256 of the data in Base58 or hexadecimal.',
  schema: { type: 'string', maxLength: 64 },
  parse: hashOf,
};

const Info = Type.Object({
  filename: Type.String(),
  size: Type.Union([Type.String(), Int64]),
  timestamp: Int64,
  author: Type.String(),
  comment: Type.String(),
});

const sendData = route({
  method: 'POST',
  path: '/privacy/sendData',
  access: 'privacyKey',
  doc: 'Stores private data of a policy and registers their hash on the chain.',
  cost: { bytesIn: limits.body.sendData },
  query: { broadcast: params.optional(params.flag('false: only store and sign.'), true) },
  body: jsonAround(
    'data',
    Type.Object({
      sender: Type.String(),
      password: Type.Optional(Type.String()),
      policyId: Type.String(),
      type: Type.Optional(Type.String()),
      info: Info,
      data: Type.Unsafe<string | Uint8Array>({ type: 'string', contentEncoding: 'base64' }),
      hash: Type.String(),
      version: Type.Optional(Int32),
      fee: Type.Optional(Int64),
      feeAssetId: Type.Optional(Type.String()),
      timestamp: Type.Optional(Int64),
      atomicBadge: Type.Optional(
        Type.Object({ trustedSender: Type.Optional(Type.Union([Type.String(), Type.Null()])) }),
      ),
    }),
  ),
  reply: Transaction,
  async handle({ body, query: { broadcast }, http }, services) {
    // It signs, and takes a fee from the account.
    requireSigner(http, services.scheme.addressFromText(body.sender), services);
    return txToJson(await storage(services).send(body, broadcast), services.scheme);
  },
});

interface Place {
  readonly hash: Uint8Array;
  readonly policyId?: Uint8Array;
}

/** A JSON text, or the bare Base64 for clients that request it (decision 36: getData). */
async function dataAt({ hash, policyId }: Place, http: HttpRequest, services: Services) {
  const isBare = services.settings.sdkCompatible || /^\s*text\/plain/.test(http.header('accept'));
  const { pieces, length } = await storage(services).data(hash, policyId);
  const [type, around] = isBare ? (['text/plain', ''] as const) : ([JSON_TYPE, '"'] as const);
  const release = await dataAnswers.acquire(undefined, base64Length(length));
  try {
    const body = await encodeBase64(pieces, length, around);
    // What a slow client has not taken by then, the server bounds with all its unsent answers.
    const late = services.clock.after(DATA_HELD_MS_MAX, release);
    const sent = (): void => {
      late();
      release();
    };
    return new Answer(200, type, body, undefined, sent);
  } catch (cause) {
    release();
    throw cause;
  }
}

const DATA_HELD_MS_MAX = 10_000;
const DATA_WAITING_MAX = 64;
/** The bytes of these answers are limited once for the process, because all its nodes share its memory. */
const dataAnswers = new Semaphore(limits.dataAnswers, { inAll: DATA_WAITING_MAX });

const getData = route({
  method: 'GET',
  path: '/privacy/getData/{hash}',
  also: ['/privacy/getdata/{hash}'],
  access: 'privacyKey',
  doc: 'Private data as Base64: a JSON text, or bare for `Accept: text/plain` and with `rest-api.sdk-compatible`.',
  cost: { streamed: true, bytesOut: limits.dataAnswer },
  params: { hash: dataHash },
  reply: Type.String(),
  alsoText: true,
  handle: ({ params: at, http }, services) => dataAt(at, http, services),
});

const getDataOf = route({
  method: 'GET',
  path: '/privacy/{policyId}/getData/{hash}',
  also: ['/privacy/{policyId}/getdata/{hash}'],
  access: 'privacyKey',
  doc: 'The same of one policy.',
  cost: { streamed: true, bytesOut: limits.dataAnswer },
  params: { policyId: params.policyId, hash: dataHash },
  reply: Type.String(),
  alsoText: true,
  handle: ({ params: at, http }, services) => dataAt(at, http, services),
});

const ItemInfo = Type.Object({
  sender: Type.String(),
  policy: Type.String(),
  type: Type.String(),
  info: Type.Object({
    filename: Type.String(),
    size: Type.String(),
    timestamp: Int64,
    author: Type.String(),
    comment: Type.String(),
  }),
  hash: Type.String(),
});

async function infoAt({ hash, policyId }: Place, services: Services) {
  const item = await storage(services).info(hash, policyId);
  const { type, filename, size, timestamp, author, comment } = item;
  return {
    sender: services.scheme.addressToText(item.sender),
    policy: base58.encode(item.policyId),
    type,
    info: { filename, size, timestamp, author, comment },
    hash: base58.encode(hash),
  };
}

const getInfo = route({
  method: 'GET',
  path: '/privacy/getInfo/{hash}',
  also: ['/privacy/getinfo/{hash}'],
  access: 'privacyKey',
  doc: 'The metadata stored with private data.',
  params: { hash: dataHash },
  reply: ItemInfo,
  handle: ({ params: at }, services) => infoAt(at, services),
});

const getInfoOf = route({
  method: 'GET',
  path: '/privacy/{policyId}/getInfo/{hash}',
  also: ['/privacy/{policyId}/getinfo/{hash}'],
  access: 'privacyKey',
  doc: 'The metadata stored with private data of one policy.',
  params: { policyId: params.policyId, hash: dataHash },
  reply: ItemInfo,
  handle: ({ params: at }, services) => infoAt(at, services),
});

const Synced = Type.Object({
  result: Type.String(),
  message: Type.Optional(Type.String()),
  forceRestarted: Type.Optional(Int32),
});

async function synced(services: Services, policyId?: Uint8Array, address?: Uint8Array) {
  const { problem, restarted } = await storage(services).sync(policyId, address);
  return problem === undefined
    ? { result: 'success', forceRestarted: restarted }
    : { result: 'error', message: problem };
}

const forceSync = route({
  method: 'POST',
  path: '/privacy/forceSync',
  access: 'anyKey',
  doc: 'Fetches missing data of all policies of which this node is a recipient.',
  body: optionalJson(
    Type.Object({
      policy: Type.Optional(Type.String()),
      address: Type.Optional(Type.String()),
    }),
  ),
  reply: Synced,
  async handle({ body }, services) {
    storage(services);
    const { policy, address } = body ?? {};
    return synced(
      services,
      policy === undefined ? undefined : policyIdOf(policy),
      address === undefined ? undefined : params.readAddress(address, services.scheme).bytes,
    );
  },
});

const forceSyncOf = route({
  method: 'GET',
  path: '/privacy/forceSync/{policyId}',
  access: 'anyKey',
  doc: 'Fetches missing data of one policy.',
  params: { policyId: params.policyId },
  reply: Synced,
  handle: ({ params: { policyId } }, services) => synced(services, policyId),
});

export const privacy = {
  list,
  one,
  recipients,
  owners,
  hashes,
  sendData,
  getData,
  getDataOf,
  getInfo,
  getInfoOf,
  forceSync,
  forceSyncOf,
};
