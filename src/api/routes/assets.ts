/** Assets: balances, details, distribution. */
import Type from 'typebox';
import { base58 } from '../../base/base58.ts';
import { apiError } from '../../base/errors.ts';
import { integer } from '../../base/json.ts';
import { Int32, Int64, json } from '../body.ts';
import { limits } from '../limits.ts';
import * as params from '../params.ts';
import { endingWith, inTurns, listOf, mapped, objectOf } from '../pieces.ts';
import type { AssetView } from '../reads.ts';
import { route } from '../route.ts';
import type { Services } from '../services.ts';
import { AddressList, confirmedJson, scriptJson, Transaction } from '../shapes.ts';

const group = 'assets';
const MAX_ID_CHARS = 44;

const assetOfBalance = params.bytes58('Id of an asset.', (text) =>
  apiError('InvalidAssetId', `Asset id '${text}' is invalid: unable to decode base58`),
);
const assetOfDetails = params.bytes58('Id of an asset.', () =>
  apiError('Invalid', 'Incorrect asset ID'),
);
const assetOfDistribution = params.bytes58(
  'Id of an asset.',
  (text) =>
    apiError(
      'Invalid',
      text.length > MAX_ID_CHARS ? 'Unexpected assetId length' : 'Must be base58-encoded assetId',
    ),
  MAX_ID_CHARS,
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

function* holdings(owner: Uint8Array, { assets, scheme }: Services) {
  const ownerText = scheme.addressToText(owner);
  for (const [id, balance] of assets.balancesOf(owner)) {
    const view = assets.details(id);
    if (view === undefined) continue;
    const sponsored = view.minSponsoredAssetFee !== undefined;
    const own = scheme.addressToText(view.issuer) === ownerText;
    yield {
      assetId: base58.encode(id),
      balance,
      quantity: view.quantity,
      reissuable: view.reissuable,
      minSponsoredAssetFee: view.minSponsoredAssetFee ?? null,
      sponsorBalance: sponsored && own ? view.sponsorBalance : null,
      issueTransaction: confirmedJson(view.issueTransaction, { scheme }),
    };
  }
}

const holdingsOf = (owner: Uint8Array, services: Services) =>
  listOf(holdings(owner, services), (holding) => holding);

const balances = route({
  method: 'GET',
  path: '/assets/balance/{address}',
  access: 'public',
  group,
  doc: 'All assets of an address.',
  params: { address: params.address },
  reply: Type.Object({ address: Type.String(), balances: Type.Array(Holding) }),
  cost: { inTurns: true, rows: limits.listRows },
  handle: ({ params: { address } }) =>
    inTurns((services) =>
      endingWith({ address: address.text }, 'balances', holdingsOf(address.bytes, services)),
    ),
});

const balance = route({
  method: 'GET',
  path: '/assets/balance/{address}/{assetId}',
  access: 'public',
  group,
  doc: 'What an address has of one asset; 0 of an unknown one.',
  params: { address: params.address, assetId: assetOfBalance },
  reply: Type.Object({ address: Type.String(), assetId: Type.String(), balance: Int64 }),
  handle: ({ params: { address, assetId } }, { assets }) => ({
    address: address.text,
    assetId: base58.encode(assetId),
    balance: assets.balance(address.bytes, assetId),
  }),
});

const balancesOfMany = route({
  method: 'POST',
  path: '/assets/balance',
  access: 'public',
  group,
  doc: 'All assets of up to 1000 addresses, by address.',
  cost: { inTurns: true, rows: limits.listRows },
  body: json(AddressList),
  reply: Type.Record(Type.String(), Type.Array(Holding)),
  handle({ body: { addresses } }, services) {
    // By address, so that one that comes twice is read once.
    const read = new Map(
      addresses.map((given) => {
        const { text, bytes } = params.readAddress(given, services.scheme);
        return [text, bytes];
      }),
    );
    return inTurns((of) =>
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

function detailsJson(id: Uint8Array, view: AssetView, { scheme }: Services): unknown {
  const { script } = view;
  const none = { script: null, scriptText: null, complexity: 0, extraFee: 0 };
  return {
    assetId: base58.encode(id),
    issueHeight: view.issueHeight,
    issueTimestamp: view.issueTimestamp,
    issuer: scheme.addressToText(view.issuer),
    issuerPublicKey: base58.encode(view.issuerPublicKey),
    name: view.name,
    description: view.description,
    decimals: view.decimals,
    reissuable: view.reissuable,
    quantity: integer(view.quantity),
    scripted: script !== undefined,
    ...(script === undefined ? none : scriptJson(script)),
    minSponsoredAssetFee: view.minSponsoredAssetFee ?? null,
  };
}

const details = route({
  method: 'GET',
  path: '/assets/details/{assetId}',
  access: 'public',
  group,
  doc: 'What is known of an asset; the quantity is the present one.',
  params: { assetId: assetOfDetails },
  query: { full: params.optional(params.flag('Accepted for clients; changes nothing.'), false) },
  reply: Type.Unsafe<unknown>(Details),
  handle({ params: { assetId } }, services) {
    const view = services.assets.details(assetId);
    if (view !== undefined) return detailsJson(assetId, view, services);
    const id = base58.encode(assetId);
    throw apiError('Invalid', `Failed to get description of the asset '${id}'`);
  },
});

const Amounts = Type.Record(Type.String(), Int64);

const byAddress = (items: Iterable<readonly [Uint8Array, bigint]>, { scheme }: Services) =>
  objectOf(
    mapped(items, ([address, amount]) => [scheme.addressToText(address), [`${amount}`]] as const),
  );

const distribution = route({
  method: 'GET',
  path: '/assets/{assetId}/distribution',
  access: 'public',
  group,
  doc: 'Who has how much of an asset.',
  cost: { inTurns: true, rows: limits.entryRows },
  params: { assetId: assetOfDistribution },
  reply: Amounts,
  handle: ({ params: { assetId } }) =>
    inTurns((services) => byAddress(services.assets.distribution(assetId), services)),
});

/** A number of the paged distribution, whose errors are texts of their own. */
const counted = (doc: string, problem: (value: number) => string | undefined) => ({
  doc,
  schema: { type: 'integer', format: 'int32', minimum: 1 },
  parse(text: string): number {
    const value = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    const why = Number.isNaN(value) ? `Unable to parse Integer from '${text}'` : problem(value);
    if (why !== undefined) throw apiError('Invalid', why);
    return value;
  },
});

const distributionAt = route({
  method: 'GET',
  path: '/assets/{assetId}/distribution/{height}/limit/{limit}',
  access: 'public',
  group,
  doc: 'Who had how much of an asset at a past height, page by page.',
  cost: { inTurns: true, rows: limits.listRows },
  params: {
    assetId: assetOfDistribution,
    height: counted('A height below the present one.', (value) =>
      value > 0 ? undefined : 'Height should be greater than zero',
    ),
    limit: counted('The most addresses to list.', (value) =>
      value > 0 ? undefined : 'Limit should be greater than 0',
    ),
  },
  query: { after: params.optional(params.address, undefined) },
  reply: Type.Object({
    hasNext: Type.Boolean(),
    lastItem: Type.Union([Type.String(), Type.Null()]),
    items: Amounts,
  }),
  handle({ params: { assetId, height, limit }, query: { after } }, services) {
    const most = services.settings.distributionAddressLimit;
    if (limit >= most) throw apiError('Invalid', `Limit should be less than ${most}`);
    const top = services.chain.height();
    if (height >= top) {
      throw apiError('Invalid', `Height should be less than current height ${top}`);
    }
    return inTurns(function* (of) {
      const page = of.assets.distributionAt(assetId, height, limit, after?.bytes);
      const { hasNext, last, items } = yield* page;
      const lastItem = last === undefined ? null : of.scheme.addressToText(last);
      yield* endingWith({ hasNext, lastItem }, 'items', byAddress(items, of));
    });
  },
});

export const assets = { balances, balance, balancesOfMany, details, distribution, distributionAt };
