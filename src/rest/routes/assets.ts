/** Assets: balances and details. */

import { assert } from '../../base/assert.ts';
import { base58 } from '../../base/base58.ts';
import { equal } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import { integer } from '../../base/json/json.ts';
import { findTransaction } from '../../chain/store/stored-blocks.ts';
import { accountOf, available } from '../../ledger/accounts.ts';
import { type Asset, assetBalance, assetOf, assetsOf } from '../../ledger/assets.ts';
import { Int32, Int64, json } from '../../rest-framework/body.ts';
import {
  endingWith,
  listOf,
  mapped,
  objectOf,
  streamed,
} from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { assetById, isId } from '../by-id.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import { scriptJson } from '../script-json.ts';
import type { Services } from '../services.ts';
import { AddressList, confirmedJson, Transaction } from '../shapes.ts';
import { assetDistribution } from './asset-distribution.ts';

const route = routesIn('assets');

const assetOfBalance = params.bytes58('Id of an asset.', (text) =>
  apiError('InvalidAssetId', `Asset id '${text}' is invalid: unable to decode base58`),
);
const lastAsset = params.bytes58('Id of the last asset of the page before.', (text) =>
  apiError('InvalidAssetId', `Asset id '${text}' is invalid`),
);
const assetOfPage: typeof lastAsset = {
  ...lastAsset,
  parse(text, scheme) {
    const id = lastAsset.parse(text, scheme);
    if (isId(id)) return id;
    throw apiError('InvalidAssetId', `Asset id '${text}' is invalid`);
  },
};
const assetOfDetails = params.bytes58('Id of an asset.', () =>
  apiError('Invalid', 'Incorrect asset ID'),
);
const Nullable64 = Type.Unsafe<bigint | number | null>({
  type: ['integer', 'null'],
  format: 'int64',
});

const Holding = Type.Object({
  assetId: Type.String(),
  balance: Int64,
  quantity: Int64,
  reissuable: Type.Boolean(),
  minSponsoredAssetFee: Nullable64,
  sponsorBalance: Nullable64,
  issueTransaction: Transaction,
});

interface Page {
  readonly limit: number;
  /** Id of the last asset of the page before. */
  readonly after: Uint8Array | undefined;
}

const ALL: Page = { limit: limits.entryRows, after: undefined };

function* holdings(owner: Uint8Array, { view, scheme }: Services, { limit, after }: Page) {
  for (const [id, balance] of assetsOf(view, owner, Math.min(limit, ALL.limit), after)) {
    const asset = assetOf(view, id);
    const issue = findTransaction(view, id);
    assert(asset !== undefined && issue !== undefined, 'a confirmed transaction made the asset');
    const { quantity, reissuable, sponsorFee, issuer } = asset;
    const isSponsor = sponsorFee !== undefined && equal(issuer, owner);
    yield {
      assetId: base58.encode(id),
      balance,
      quantity,
      reissuable,
      minSponsoredAssetFee: sponsorFee ?? null,
      sponsorBalance: isSponsor ? available(accountOf(view, issuer)) : null,
      issueTransaction: confirmedJson(issue, { scheme }),
    };
  }
}

const holdingsOf = (owner: Uint8Array, services: Services, page = ALL) =>
  listOf(holdings(owner, services, page), (holding) => holding);

const balances = route({
  method: 'GET',
  path: '/assets/balance/{address}',
  access: 'public',
  doc: 'All assets of an address, or a page of them, in the order of the bytes of their ids.',
  params: { address: params.address },
  query: {
    limit: params.optional(params.positive('The most assets to list.'), ALL.limit),
    after: params.optional(assetOfPage, undefined),
  },
  reply: Type.Object({ address: Type.String(), balances: Type.Array(Holding) }),
  cost: { streamed: true, rows: limits.listRows },
  handle: ({ params: { address }, query: page }) =>
    streamed((services) =>
      endingWith({ address: address.text }, 'balances', holdingsOf(address.bytes, services, page)),
    ),
});

const balance = route({
  method: 'GET',
  path: '/assets/balance/{address}/{assetId}',
  access: 'public',
  doc: 'The balance of an address in one asset; 0 for an unknown asset.',
  params: { address: params.address, assetId: assetOfBalance },
  reply: Type.Object({ address: Type.String(), assetId: Type.String(), balance: Int64 }),
  handle: ({ params: { address, assetId } }, { view }) => ({
    address: address.text,
    assetId: base58.encode(assetId),
    balance: isId(assetId) ? assetBalance(view, address.bytes, assetId) : 0n,
  }),
});

const balancesOfMany = route({
  method: 'POST',
  path: '/assets/balance',
  access: 'public',
  doc: 'All assets of up to 1000 addresses, by address.',
  cost: { streamed: true, rows: limits.listRows },
  body: json(AddressList),
  reply: Type.Record(Type.String(), Type.Array(Holding)),
  handle({ body: { addresses } }, services) {
    // By address, so that a repeated address is read once.
    const read = new Map(
      addresses.map((given) => {
        const { text, bytes } = params.readAddress(given, services.scheme);
        return [text, bytes];
      }),
    );
    return streamed((of) =>
      objectOf(mapped(read, ([text, bytes]) => [text, holdingsOf(bytes, of)] as const)),
    );
  },
});

const Details = Type.Object({
  assetId: Type.String(),
  issueHeight: Int32,
  issueTimestamp: Int64,
  issuer: Type.String(),
  issuerPublicKey: Type.String(),
  name: Type.String(),
  description: Type.String(),
  decimals: Int32,
  reissuable: Type.Boolean(),
  quantity: Int64,
  scripted: Type.Boolean(),
  script: Type.Union([Type.String(), Type.Null()]),
  scriptText: Type.Union([Type.String(), Type.Null()]),
  complexity: Int32,
  extraFee: Int64,
  minSponsoredAssetFee: Nullable64,
});

const NO_SCRIPT = { scripted: false, script: null, scriptText: null, complexity: 0, extraFee: 0 };

function detailsJson(id: Uint8Array, asset: Asset, services: Services): unknown {
  return {
    assetId: base58.encode(id),
    issueHeight: asset.issueHeight,
    issueTimestamp: asset.issueTimestamp,
    issuer: services.scheme.addressToText(asset.issuer),
    issuerPublicKey: base58.encode(asset.issuerPublicKey),
    name: asset.name,
    description: asset.description,
    decimals: asset.decimals,
    reissuable: asset.reissuable,
    quantity: integer(asset.quantity),
    ...(asset.script === undefined
      ? NO_SCRIPT
      : { scripted: true, ...scriptJson(asset.script, services) }),
    minSponsoredAssetFee: asset.sponsorFee ?? null,
  };
}

const details = route({
  method: 'GET',
  path: '/assets/details/{assetId}',
  access: 'public',
  doc: 'The details of an asset, with its current quantity.',
  params: { assetId: assetOfDetails },
  query: { full: params.optional(params.flag('Accepted for clients; changes nothing.'), false) },
  reply: Type.Unsafe<unknown>(Details),
  handle({ params: { assetId } }, services) {
    const asset = assetById(services.view, assetId);
    if (asset !== undefined) return detailsJson(assetId, asset, services);
    const id = base58.encode(assetId);
    throw apiError('Invalid', `Failed to get description of the asset '${id}'`);
  },
});

export const assets = { balances, balance, balancesOfMany, details, ...assetDistribution };
