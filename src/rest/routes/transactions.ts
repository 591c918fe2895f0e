/** Transactions: reading, the pool, fees, signing, broadcasting. */

import { base58 } from '../../base/base58.ts';
import { equal } from '../../base/bytes.ts';
import { ApiError, apiError, type ErrorName } from '../../base/errors.ts';
import { I32_MAX } from '../../base/int.ts';
import { integer, type JsonObject } from '../../base/json/json.ts';
import type { HttpRequest } from '../../base/ports/http.ts';
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import { transactionsOf } from '../../chain/store/stored-blocks.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { aliasesOf } from '../../ledger/aliases.ts';
import { type Answer, notFound, print, printed } from '../../rest-framework/answer.ts';
import { badField, Int32, Int64, jsonObject } from '../../rest-framework/body.ts';
import { listOf, streamed } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { signedBytes } from '../../tx/assemble.ts';
import { aliasToText } from '../../tx/fields/recipient.ts';
import {
  broadcastFromJson,
  forFeeFromJson,
  txToJson,
  unsignedFromJson,
} from '../../tx/json/encode.ts';
import type { Tx } from '../../tx/transaction.ts';
import { decodeTx } from '../../tx/tx-bytes.ts';
import { massTransfer } from '../../tx/types/011-mass-transfer.ts';
import { BROADCAST, readPrepared, signedBody } from '../broadcast-offload.ts';
import { contractById, transactionById } from '../by-id.ts';
import { requireData } from '../data-at-hand.ts';
import { finalHeight, withFinal } from '../final-mark.ts';
import { requireSigner } from '../guards.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { Services } from '../services.ts';
import { type ConfirmedTx, confirmedJson, extendedText, Transaction } from '../shapes.ts';

const route = routesIn('transactions');
const UNKNOWN = notFound('Transaction is not in blockchain');
const NOT_IN_POOL = notFound('Transaction is not in UTX');

const info = route({
  method: 'GET',
  path: '/transactions/info/{id}',
  also: ['/transactions/info', '/transactions/info/'],
  access: 'public',
  doc: 'A transaction of the chain with the height of its block; with `final` where voters make blocks final.',
  params: { id: params.shownTransactionId },
  reply: Transaction,
  handle({ params: { id } }, services) {
    const found = extendedText(id, services);
    if (found === undefined) return UNKNOWN;
    return printed(withFinal(found.text, found.height, finalHeight(services)));
  },
});

const NO_LIMIT = apiError('Invalid', 'invalid.limit');

/** Its only error has a text of its own. */
const listLimit: params.Param<number> = {
  doc: 'The most transactions to list, from 0.',
  schema: { type: 'integer', format: 'int32', minimum: 0 },
  parse(text) {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value <= I32_MAX)) throw NO_LIMIT;
    return value;
  },
};

const ofAddress = route({
  method: 'GET',
  path: '/transactions/address/{address}/limit/{limit}',
  also: ['/transactions/address/{address}', '/transactions/address/{address}/limit'],
  access: 'public',
  doc: 'Transactions that involve an address, newest first: an array inside an array.',
  cost: { streamed: true, rows: limits.listRows },
  params: { address: params.address, limit: listLimit },
  query: {
    after: params.optional(
      params.bytes58('Id of the last transaction of the page before.', (text) =>
        apiError('Invalid', `Unable to decode transaction id ${text}`),
      ),
      undefined,
    ),
  },
  reply: Type.Array(Type.Array(Transaction)),
  handle({ params: { address, limit }, query: { after } }, services) {
    const most = services.settings.transactionsByAddressLimit;
    if (limit > most) throw apiError('TooBigSequence', `limit ${limit} is over ${most}`);
    const isKnown = after === undefined || transactionById(services.view, after) !== undefined;
    if (!isKnown) return UNKNOWN;
    return streamed(function* (of) {
      const below = after && transactionById(of.view, after);
      const found = limit === 0 ? [] : transactionsOf(of.view, address.bytes, limit, below);
      yield '[';
      yield* listOf(found, (item) => listed(item, address, of));
      yield ']';
    });
  },
});

/**
 * For an address that did not send a mass transfer, the list shows only the transfers to that
 * address.
 */
function listed(item: ConfirmedTx, address: params.Address, services: Services): unknown {
  const json = confirmedJson(item, services);
  const transfers = json['transfers'];
  if (item.tx.type !== massTransfer.type || !Array.isArray(transfers)) return json;
  if (json['sender'] === address.text) return json;
  const { view, scheme } = services;
  const aliases = Array.from(aliasesOf(view, address.bytes), (name) => aliasToText(name, scheme));
  const mine = new Set([address.text, ...aliases]);
  json['transfers'] = transfers.filter((transfer: JsonObject) =>
    mine.has(String(transfer['recipient'])),
  );
  return json;
}

const unconfirmed = route({
  method: 'GET',
  path: '/transactions/unconfirmed',
  access: 'public',
  doc: 'All transactions of the pool.',
  reply: Type.Array(Transaction),
  cost: { streamed: true },
  async handle(_request, { pool: { whenRead } }) {
    await whenRead();
    return streamed(({ pool, scheme }) => listOf(pool.list(), (tx) => txToJson(tx, scheme)));
  },
});

const unconfirmedSize = route({
  method: 'GET',
  path: '/transactions/unconfirmed/size',
  access: 'public',
  doc: 'The number of transactions in the pool.',
  reply: Type.Object({ size: Int32, sizeInBytes: Int64 }),
  async handle(_request, { pool }) {
    await pool.whenRead();
    return { size: pool.size(), sizeInBytes: pool.bytes() };
  },
});

const unconfirmedInfo = route({
  method: 'GET',
  path: '/transactions/unconfirmed/info/{id}',
  also: [
    '/unconfirmed/info/{id}',
    '/unconfirmed/info',
    '/unconfirmed/info/',
    '/transactions/unconfirmed/info',
    '/transactions/unconfirmed/info/',
  ],
  access: 'public',
  doc: 'A transaction of the pool; members of an atomic one are not found.',
  params: { id: params.transactionId },
  reply: Transaction,
  async handle({ params: { id } }, { pool, scheme }) {
    await pool.whenRead();
    const tx = pool.get(id);
    return tx === undefined ? NOT_IN_POOL : printed(print(txToJson(tx, scheme)));
  },
});

const unsignedBody = jsonObject({ $ref: '#/components/schemas/UnsignedTransaction' });

const pricedBody = jsonObject({
  type: 'object',
  description: 'A transaction whose fee, sender and proofs may be left out.',
  properties: { type: { type: 'integer' }, senderPublicKey: { type: 'string' } },
  additionalProperties: true,
  required: ['type', 'senderPublicKey'],
});

const calculateFee = route({
  method: 'POST',
  path: '/transactions/calculateFee',
  access: 'public',
  doc: 'The minimum fee of a transaction; sender, fee and proofs are ignored.',
  body: pricedBody,
  reply: Type.Object({
    feeAssetId: Type.Union([Type.String(), Type.Null()]),
    feeAmount: Int64,
  }),
  handle({ body }, { scheme, feeOf, view }) {
    const tx = forFeeFromJson(body, scheme);
    tx.def.guardNamed?.(tx, view);
    const { feeAssetId, feeAmount } = feeOf(tx);
    return {
      feeAssetId: feeAssetId === undefined ? null : base58.encode(feeAssetId),
      feeAmount: integer(feeAmount) as number,
    };
  },
});

/** Fills in what the request leaves open, and signs with a key of the keystore. */
async function signed(body: JsonObject, http: HttpRequest, services: Services): Promise<Tx> {
  const { scheme, keystore, clock, feeOf, pool, view } = services;
  pool.admit?.();
  const { password } = body;
  const draft = unsignedFromJson(body, scheme, {
    publicKeyOf: (address) => keystore.publicKey(address),
    timestamp: clock.now(),
    feeOf: (tx) => feeOf(tx).feeAmount,
    contractVersionOf: (id) => contractById(view, id)?.version,
    guardNamed: (tx) => tx.def.guardNamed?.(tx, view),
  });
  requireSigner(http, draft.signer, services);
  if (password !== undefined && password !== null && typeof password !== 'string') {
    throw badField('password', 'error.expected.jsstring');
  }
  const { signer, message } = draft;
  const proof = await keystore.sign(signer, password ?? undefined, message, 'transaction');
  return draft.assemble([proof]);
}

/** Where a request may mean two layouts, the one whose signature is valid; the first if none is. */
async function signedOne(candidates: readonly [Tx, ...Tx[]], { verifier }: Services): Promise<Tx> {
  if (candidates.length > 1) {
    for (const tx of candidates) {
      const proof = tx.proofs[0];
      if (proof?.length !== SIGNATURE_BYTES) continue;
      if (await verifier.verifyOne(tx.senderPublicKey, signedBytes(tx), proof)) return tx;
    }
  }
  return candidates[0];
}

/** Refusals by the state contain the transaction that they concern (rest.md#errors). */
const STATE_REFUSALS: ReadonlySet<ErrorName> = new Set([
  'StateCheckFailed',
  'WrongProof',
  'LastOfRole',
]);

async function submit(tx: Tx, services: Services): Promise<Answer> {
  const { pool, scheme } = services;
  try {
    await requireData(tx, services);
    return printed(print(txToJson(await pool.submit(tx), scheme)));
  } catch (error) {
    throw withTransaction(error, tx, scheme);
  }
}

function withTransaction(error: unknown, tx: Tx, scheme: ChainScheme): unknown {
  const isOfState = error instanceof ApiError && STATE_REFUSALS.has(error.entry);
  return isOfState ? error.with({ tx: txToJson(tx, scheme) }) : error;
}

const sign = route({
  method: 'POST',
  path: '/transactions/sign',
  access: 'signKey',
  doc: 'Signs a transaction with a key of the keystore; nothing is stored or sent.',
  body: unsignedBody,
  reply: Transaction,
  handle: async ({ body, http }, services) =>
    printed(print(txToJson(await signed(body, http, services), services.scheme))),
});

const signAndBroadcast = route({
  method: 'POST',
  path: '/transactions/signAndBroadcast',
  access: 'signKey',
  doc: 'Signs as /transactions/sign does, then submits as /transactions/broadcast does.',
  body: unsignedBody,
  reply: Transaction,
  async handle({ body, http }, services) {
    const tx = await signed(body, http, services);
    return await submit(tx, services);
  },
});

const broadcast = route({
  method: 'POST',
  path: '/transactions/broadcast',
  access: 'public',
  doc: 'Submits a signed transaction; one that already waits in the pool is answered again.',
  body: signedBody,
  reply: Transaction,
  async handle({ body }, services) {
    services.pool.admit?.();
    const candidates = broadcastFromJson(body, services.scheme);
    const tx = candidates.length === 1 ? candidates[0] : await signedOne(candidates, services);
    return await submit(tx, services);
  },
  offload: {
    work: BROADCAST,
    async finish(message, { pool, scheme }) {
      pool.admit?.();
      const prepared = readPrepared(message);
      const { bytes } = prepared;
      try {
        const accepted = await pool.submitBytes(bytes, prepared);
        // One with other proofs may have come first.
        return equal(accepted.bytes, bytes)
          ? undefined
          : printed(print(txToJson(accepted, scheme)));
      } catch (error) {
        throw withTransaction(error, decodeTx(bytes, scheme), scheme);
      }
    },
  },
});

export const transactions = {
  info,
  ofAddress,
  unconfirmed,
  unconfirmedSize,
  unconfirmedInfo,
  calculateFee,
  sign,
  signAndBroadcast,
  broadcast,
};
