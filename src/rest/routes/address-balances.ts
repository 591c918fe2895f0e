/** Balances of addresses (rest.md#balances; decisions 10 and 34). */

import { ApiError, apiError } from '../../base/errors.ts';
import { integer } from '../../base/json/json.ts';
import { type Account, accountOf, available, effective } from '../../ledger/accounts.ts';
import { generatingBalance, minimumInSteps } from '../../ledger/balance-history.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { printed } from '../../rest-framework/answer.ts';
import { Int32, Int64, json, optionalJson } from '../../rest-framework/body.ts';
import { listOf, streamed } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { ChainView, Services } from '../services.ts';
import { AddressList, Balance as BalanceShape } from '../shapes.ts';

const route = routesIn('addresses');

/** The text of an address needs no escapes in JSON. */
const balanceText = (address: string, confirmations: number, balance: bigint) =>
  `{"address":"${address}","confirmations":${confirmations},"balance":${balance}}`;

type Balance = (account: Account) => bigint;

const regular: Balance = ({ balance }) => balance;

const present = (view: LedgerView, address: params.Address, of: Balance) =>
  printed(balanceText(address.text, 0, of(accountOf(view, address.bytes))));

const lowest = ({ bytes, text }: params.Address, confirmations: number, of: Balance) =>
  streamed(function* ({ view, height }: ChainView) {
    const balance = yield* minimumInSteps(view, bytes, height(), confirmations, of);
    yield balanceText(text, confirmations, balance);
  });

const someBlocks = params.nonNegative(
  'Number of blocks over which the lowest balance counts; 0 means now.',
);

const confirmations: typeof someBlocks = {
  ...someBlocks,
  schema: { ...someBlocks.schema, maximum: limits.confirmations },
  parse(text, scheme) {
    const value = someBlocks.parse(text, scheme);
    if (value <= limits.confirmations) return value;
    throw apiError('Invalid', `Confirmations should be at most ${limits.confirmations}`);
  },
};

const balanceNow = (path: string, doc: string, of: Balance) =>
  route({
    method: 'GET',
    path,
    access: 'public',
    doc,
    params: { address: params.address },
    reply: BalanceShape,
    handle: ({ params: { address } }, { view }) => present(view, address, of),
  });

const lowestBalance = (path: string, doc: string, of: Balance) =>
  route({
    method: 'GET',
    path,
    access: 'public',
    doc,
    cost: { streamed: true, rows: limits.confirmations + 1 },
    params: { address: params.address, confirmations },
    reply: BalanceShape,
    handle: ({ params: { address, confirmations } }, { view }) =>
      confirmations === 0 ? present(view, address, of) : lowest(address, confirmations, of),
  });

const balance = balanceNow(
  '/addresses/balance/{address}',
  'Balance of an address, including the amount leased out.',
  regular,
);

const balanceConfirmed = lowestBalance(
  '/addresses/balance/{address}/{confirmations}',
  'The lowest balance over the last blocks.',
  regular,
);

const effectiveNow = balanceNow(
  '/addresses/effectiveBalance/{address}',
  'Effective balance: without the amount leased out, with the amount leased in.',
  effective,
);

const effectiveConfirmed = lowestBalance(
  '/addresses/effectiveBalance/{address}/{confirmations}',
  'The lowest effective balance over the last blocks.',
  effective,
);

const Details = Type.Object({
  address: Type.String(),
  regular: Int64,
  generating: Int64,
  available: Int64,
  effective: Int64,
});

function detailsOf(
  { bytes, text }: params.Address,
  { view, height }: ChainView,
): Record<string, unknown> {
  const account = accountOf(view, bytes);
  return {
    address: text,
    regular: integer(account.balance),
    generating: integer(generatingBalance(view, bytes, height())),
    available: integer(available(account)),
    effective: integer(effective(account)),
  };
}

/** Details of the valid addresses in their order, then a refusal for each invalid one. */
function detailsOfMany(texts: readonly string[], { scheme }: Services) {
  const good: params.Address[] = [];
  const bad: Record<string, unknown>[] = [];
  for (const text of texts) {
    try {
      good.push(params.readAddress(text, scheme));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      bad.push({ address: text, ...error.body });
    }
  }
  return streamed((services: Services) =>
    listOf<params.Address | Record<string, unknown>>([...good, ...bad], (one) =>
      'bytes' in one ? detailsOf(one as params.Address, services) : one,
    ),
  );
}

/** Rows read for the balance of an account, and for that of its last thousand blocks. */
const ACCOUNT_ROWS = 1010;
const detailsCost = { streamed: true, rows: limits.addresses * ACCOUNT_ROWS };

const NoDetails = Type.Object({ address: Type.String(), error: Int32, message: Type.String() });
const DetailsOfMany = Type.Array(Type.Unsafe<unknown>({ anyOf: [Details, NoDetails] }));

// A setting decides the kind of the reply, so the schema lists both kinds.
const AnyDetails = Type.Unsafe<unknown>({ anyOf: [DetailsOfMany, Details] });

const balanceDetails = route({
  method: 'GET',
  path: '/addresses/balance/details/{address}',
  also: ['/addresses/balance/details'],
  access: 'public',
  doc:
    'All kinds of balance: an array with one object, or the bare object with ' +
    '`rest-api.sdk-compatible`. A JSON body with `addresses` selects those instead.',
  cost: detailsCost,
  params: { address: params.text('An address.') },
  body: optionalJson(Type.Partial(AddressList)),
  reply: AnyDetails,
  handle({ params: { address }, body }, services) {
    if (body?.addresses !== undefined) return detailsOfMany(body.addresses, services);
    const one = detailsOf(params.readAddress(address, services.scheme), services);
    return services.settings.sdkCompatible ? one : [one];
  },
});

const balanceDetailsOfMany = route({
  method: 'POST',
  path: '/addresses/balance/details',
  access: 'public',
  doc: 'All kinds of balance of up to 1000 addresses; invalid ones come last with their error.',
  cost: detailsCost,
  body: json(AddressList),
  reply: DetailsOfMany,
  handle: ({ body }, services) => detailsOfMany(body.addresses, services),
});

const generatingAt = route({
  method: 'GET',
  path: '/addresses/generatingBalance/{address}/at/{height}',
  access: 'public',
  doc: 'The generating balance of an address at a height.',
  params: { address: params.address, height: params.height },
  reply: Type.Object({ address: Type.String(), balance: Int64 }),
  handle({ params: { address, height: at } }, { view, height }) {
    if (at > height()) throw apiError('HeightTooBig', at, height());
    return { address: address.text, balance: generatingBalance(view, address.bytes, at) };
  },
});

export const addressBalances = {
  balance,
  balanceConfirmed,
  effective: effectiveNow,
  effectiveConfirmed,
  balanceDetails,
  balanceDetailsOfMany,
  generatingAt,
};
