/** Balances of addresses (rest-api.md §6.3–6.6; README decisions 10 and 34). */
import Type from 'typebox';
import { ApiError, apiError } from '../../base/errors.ts';
import { integer } from '../../base/json.ts';
import { printed } from '../answer.ts';
import { Int64, json, optionalJson } from '../body.ts';
import { limits } from '../limits.ts';
import * as params from '../params.ts';
import { route } from '../route.ts';
import type { Services } from '../services.ts';
import { AddressList, Balance } from '../shapes.ts';

const group = 'addresses';

/** The text of an address holds nothing that JSON escapes. */
const balanceText = (address: string, confirmations: number, balance: bigint) =>
  printed(`{"address":"${address}","confirmations":${confirmations},"balance":${balance}}`);

const someBlocks = params.nonNegative('Blocks that the balance lasted; 0 means now.');

const confirmations: typeof someBlocks = {
  ...someBlocks,
  schema: { ...someBlocks.schema, maximum: limits.confirmations },
  parse(text, codec) {
    const value = someBlocks.parse(text, codec);
    if (value <= limits.confirmations) return value;
    throw apiError('Invalid', `Confirmations should be at most ${limits.confirmations}`);
  },
};

const balance = route({
  method: 'GET',
  path: '/addresses/balance/{address}',
  access: 'public',
  group,
  doc: 'Balance of an address, what it leased out included.',
  params: { address: params.address },
  reply: Balance,
  handle: ({ params: { address } }, { accounts }) =>
    balanceText(address.text, 0, accounts.balance(address.bytes)),
});

const balanceConfirmed = route({
  method: 'GET',
  path: '/addresses/balance/{address}/{confirmations}',
  access: 'public',
  group,
  doc: 'The lowest balance over the last blocks.',
  params: { address: params.address, confirmations },
  reply: Balance,
  handle({ params: { address, confirmations } }, { accounts }) {
    const value =
      confirmations === 0
        ? accounts.balance(address.bytes)
        : accounts.lowestBalance(address.bytes, confirmations);
    return balanceText(address.text, confirmations, value);
  },
});

const effective = route({
  method: 'GET',
  path: '/addresses/effectiveBalance/{address}',
  access: 'public',
  group,
  doc: 'Effective balance: without what is leased out, with what is leased in.',
  params: { address: params.address },
  reply: Balance,
  handle: ({ params: { address } }, { accounts }) =>
    balanceText(address.text, 0, accounts.balances(address.bytes).effective),
});

const effectiveConfirmed = route({
  method: 'GET',
  path: '/addresses/effectiveBalance/{address}/{confirmations}',
  access: 'public',
  group,
  doc: 'The lowest effective balance over the last blocks.',
  params: { address: params.address, confirmations },
  reply: Balance,
  handle({ params: { address, confirmations } }, { accounts }) {
    const value =
      confirmations === 0
        ? accounts.balances(address.bytes).effective
        : accounts.lowestEffective(address.bytes, confirmations);
    return balanceText(address.text, confirmations, value);
  },
});

const Details = Type.Object({
  address: Type.String(),
  regular: Int64,
  generating: Int64,
  available: Int64,
  effective: Int64,
});

function detailsOf(address: params.Address, { accounts }: Services): Record<string, unknown> {
  const { regular, generating, available, effective } = accounts.balances(address.bytes);
  return {
    address: address.text,
    regular: integer(regular),
    generating: integer(generating),
    available: integer(available),
    effective: integer(effective),
  };
}

/** Details of the valid addresses in their order, then a refusal for each other one. */
function detailsOfMany(texts: readonly string[], services: Services): Record<string, unknown>[] {
  if (texts.length > limits.addresses) throw apiError('TooBigSequence');
  const good: Record<string, unknown>[] = [];
  const bad: Record<string, unknown>[] = [];
  for (const text of texts) {
    try {
      good.push(detailsOf(params.readAddress(text, services.codec), services));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      bad.push({ address: text, ...error.body });
    }
  }
  return [...good, ...bad];
}

// Where the kind of a reply depends on a setting, its schema lists both.
const AnyDetails = Type.Unsafe<unknown>({ anyOf: [Type.Array(Details), Details] });
const DetailsOfMany = Type.Array(Type.Unknown());

const balanceDetails = route({
  method: 'GET',
  path: '/addresses/balance/details/{address}',
  also: ['/addresses/balance/details'],
  access: 'public',
  group,
  doc:
    'All kinds of balance: an array with one object, or the bare object with ' +
    '`rest-api.sdk-compatible`. A JSON body with `addresses` selects those instead.',
  params: { address: params.text('An address.') },
  body: optionalJson(Type.Object({ addresses: Type.Optional(Type.Array(Type.String())) })),
  reply: AnyDetails,
  handle({ params: { address }, body }, services) {
    if (body?.addresses !== undefined) return detailsOfMany(body.addresses, services);
    const one = detailsOf(params.readAddress(address, services.codec), services);
    return services.settings.sdkCompatible ? one : [one];
  },
});

const balanceDetailsOfMany = route({
  method: 'POST',
  path: '/addresses/balance/details',
  access: 'public',
  group,
  doc: 'All kinds of balance of up to 1000 addresses; invalid ones come last with their error.',
  body: json(AddressList),
  reply: DetailsOfMany,
  handle: ({ body }, services) => detailsOfMany(body.addresses, services),
});

const generatingAt = route({
  method: 'GET',
  path: '/addresses/generatingBalance/{address}/at/{height}',
  access: 'public',
  group,
  doc: 'The generating balance of an address at a height.',
  params: { address: params.address, height: params.height },
  reply: Type.Object({ address: Type.String(), balance: Int64 }),
  handle({ params: { address, height } }, { accounts, chain }) {
    if (height > chain.height()) throw apiError('HeightTooBig', height, chain.height());
    return { address: address.text, balance: accounts.generatingAt(address.bytes, height) };
  },
});

export const addressBalances = {
  balance,
  balanceConfirmed,
  effective,
  effectiveConfirmed,
  balanceDetails,
  balanceDetailsOfMany,
  generatingAt,
};
