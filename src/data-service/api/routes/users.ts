/** Users: every address that the chain names, with aliases, roles and balances. */

import { apiError } from '../../../base/errors.ts';
import { integer } from '../../../base/json/json.ts';
import { Answer, JSON_TYPE, notFound, print } from '../../../rest-framework/answer.ts';
import { isoDate } from '../../../rest-framework/iso-date.ts';
import type { ParamValues } from '../../../rest-framework/params.ts';
import { Type } from '../../../rest-framework/type.ts';
import { aliasChain, aliasName } from '../../crawler/rows/described.ts';
import { blocksTouching } from '../lookups/date-blocks.ts';
import { holdersOf, rolesOf } from '../lookups/held-roles.ts';
import { ofOneBranch } from '../one-branch.ts';
import { type Cut, cutPage, PAGE_BYTES, shownOf } from '../page-cut.ts';
import { queryBody } from '../query-body.ts';
import * as params from '../query-params.ts';
import {
  type Asked,
  asked,
  heavyRows,
  KEPT,
  pageAnswer,
  requireIndexes,
  rows,
} from '../reading.ts';
import { type DataServices, routesIn } from '../services.ts';
import { Count, User } from '../shapes.ts';
import { hasPart, soughtText } from '../sought-text.ts';
import { type SqlValues, sqlValues, startsWith } from '../sql-values.ts';
import { checkDates } from '../transaction-filter.ts';
import { inOrder, isEmpty, type PageOf, type Range, rangeFrom, type Select } from '../windows.ts';

const route = routesIn('users');

const query = {
  search: params.search,
  scope: params.scopesOf(params.USER_SCOPES),
  permissions: params.permissions,
  assetId: params.assetId,
  dateFrom: params.dateFrom,
  dateTo: params.dateTo,
  index: params.index,
  limit: params.limit,
  sort: params.sort,
};

type Filter = ParamValues<typeof query>;

const check = (filter: Partial<Filter>) => ({
  ...checkDates(filter),
  ...(filter.scope !== undefined && filter.search === undefined
    ? { scope: "requires 'search'" }
    : {}),
});

function conditions(filter: Filter, now: number, values: SqlValues): string[] {
  const { permissions, assetId, dateFrom, dateTo } = filter;
  const found: string[] = [];
  if (permissions !== undefined) {
    found.push(`u.address IN ${holdersOf(permissions, now, values)}`);
  }
  if (assetId !== undefined) {
    const id = assetId === 'NATIVE' ? '' : assetId;
    found.push(`u.address IN (SELECT address FROM balances
      WHERE asset_id = ${values.add(id)} AND amount > 0)`);
  }
  if (dateFrom !== undefined && dateTo !== undefined) {
    found.push(
      `u.registered_ts BETWEEN ${values.add(dateFrom)} AND ${values.add(params.lastMs(dateTo))}`,
    );
  }
  return found;
}

/** Users to compare one by one where more of them match. */
const MATCHES_MAX = 2000;

/** Some of the users: looked up all at once where they are few, in the order of the list else. */
interface Match {
  readonly condition: string;
  readonly areFew: boolean;
}

/** Users whose address or alias begins with the text, or whose alias has it where an index knows it. */
async function matching(filter: Filter, values: SqlValues, services: DataServices) {
  const { search } = filter;
  if (search === undefined) return [{ condition: 'true', areFew: false }];
  const scopes: readonly string[] = filter.scope ?? params.USER_SCOPES;
  return Promise.all([
    ...(scopes.includes('in_addresses') ? [inAddresses(search, values, services)] : []),
    ...(scopes.includes('in_aliases') ? [inAliases(search, values, services)] : []),
  ]);
}

async function inAddresses(
  search: string,
  values: SqlValues,
  services: DataServices,
): Promise<Match> {
  const condition = startsWith('u.address', search, values);
  const own = sqlValues();
  const sql = `SELECT 1 FROM users u WHERE ${startsWith('u.address', search, own)}
    ORDER BY u.address LIMIT ${MATCHES_MAX}`;
  return { condition, areFew: (await heavyRows(services, sql, own.list)).length < MATCHES_MAX };
}

async function inAliases(
  search: string,
  values: SqlValues,
  services: DataServices,
): Promise<Match> {
  const sought = await soughtText(search, services);
  const isPart = sought.indexed !== undefined;
  const matches = (of: SqlValues): string =>
    isPart ? hasPart('a.alias', sought, of) : startsWith('a.alias', search, of);
  const own = sqlValues();
  const sql = `SELECT address FROM aliases a WHERE ${matches(own)}
    ORDER BY ${isPart ? 'a.seq' : 'a.alias'} LIMIT ${MATCHES_MAX}`;
  const found = await heavyRows<{ address: string }>(services, sql, own.list);
  if (found.length < MATCHES_MAX) {
    const addresses = values.add([...new Set(found.map(({ address }) => address))], 'text[]');
    return { condition: `u.address = ANY(${addresses})`, areFew: true };
  }
  // A value instead of EXISTS: no join, but a look at the aliases of each user in turn.
  const any = `SELECT true FROM aliases a WHERE a.address = u.address
    AND ${matches(values)} LIMIT 1`;
  return { condition: `(${any})`, areFew: false };
}

/** The ordinals of the users with one match. */
const selectOf =
  ({ condition: match }: Match, others: readonly string[]): Select =>
  (condition, ordinal, sort) => {
    const all = [match, ...others, condition].filter((text) => text !== 'true');
    const order = sort === undefined ? '' : `ORDER BY ${ordinal} ${sort}`;
    const where = all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`;
    return `SELECT ${ordinal} AS seq FROM users u ${where} ${order}`;
  };

interface UserRow {
  readonly address: string;
  readonly ordinal: string;
  readonly registered_ts: string;
}

async function page(filter: Filter, from: Asked, services: DataServices) {
  const { limit, sort } = filter;
  await requireIndexes(services);
  return ofOneBranch(services, async (tip) => {
    const total = await lastUser(services);
    const range = await rangeOf(filter, total, services);
    const values = sqlValues();
    const page: PageOf = { range, sort, most: limit + 1 };
    const matches = await matching(filter, values, services);
    const others = conditions(filter, services.clock.now(), values);
    const parts = matches.map((match) =>
      inOrder(page, match.areFew ? 'u.ordinal + 0' : 'u.ordinal', selectOf(match, others)),
    );
    const seqs = `(SELECT seq FROM (${parts.join(' UNION ')}) found ORDER BY seq ${sort}
    LIMIT ${limit + 1})`;
    const cut = cutPage({ seqs, sort, limit, bytesMax: PAGE_BYTES, bytesOf: USER_BYTES });
    const found = isEmpty(range)
      ? []
      : await heavyRows<UserRow & Cut>(
          services,
          `SELECT u.address, u.ordinal, u.registered_ts, is_shown FROM ${cut} cut
         CROSS JOIN LATERAL (SELECT * FROM users WHERE ordinal = cut.seq OFFSET 0) u ORDER BY n`,
          values.list,
        );
    const { shown, following } = shownOf(found, limit);
    const { users } = await describe(shown, services);
    const of = {
      first: shown[0] && Number(shown[0].ordinal),
      next: following && Number(following.ordinal),
      total,
      changesWithin: true,
    };
    return pageAnswer({ rows: users, shape: (user) => user }, from, tip, of, services);
  });
}

/** A user with more of them cannot be shown as a whole. */
const HOLDINGS_MAX = 50_000;
const HOLDING_BYTES = 80;

/** By the number of its holdings and aliases, each about as long as the longest. */
const USER_BYTES = (ordinal: string): string =>
  `(SELECT ${HOLDING_BYTES} * (4
     + (SELECT count(*) FROM (SELECT FROM balances b WHERE b.address = o.address
         LIMIT ${HOLDINGS_MAX + 1}) held)
     + (SELECT count(*) FROM (SELECT FROM aliases a WHERE a.address = o.address
         LIMIT ${HOLDINGS_MAX + 1}) named))
    FROM users o WHERE o.ordinal = ${ordinal})`;

async function lastUser(services: DataServices): Promise<number> {
  const sql = 'SELECT coalesce(max(ordinal), 0) AS total FROM users';
  const [last] = await rows<{ total: string }>(services, sql);
  return Number(last?.total ?? 0);
}

/** A user's time is one of the block in which the chain names it first. */
async function rangeOf(filter: Filter, total: number, services: DataServices): Promise<Range> {
  const { index, sort, dateFrom, dateTo } = filter;
  const { low, high } = rangeFrom(index, sort, total);
  if (dateFrom === undefined || dateTo === undefined) return { low, high };
  const first = async (height: number): Promise<number> => {
    const [found] = await rows<{ ordinal: string }>(
      services,
      `SELECT ordinal FROM users WHERE first_height >= $1
       ORDER BY first_height, ordinal LIMIT 1`,
      [height],
    );
    return found === undefined ? total + 1 : Number(found.ordinal);
  };
  const blocks = await blocksTouching({ dateFrom, dateTo }, services);
  const [from, after] = await Promise.all([first(blocks.first), first(blocks.last + 1)]);
  return { low: Math.max(low, from), high: Math.min(high, after - 1) };
}

interface Holding {
  readonly address: string;
  readonly asset_id: string;
  readonly amount: string;
  readonly height: number;
}

/** Of a page: the users before its last one have fewer. */
const ROWS_MAX = HOLDINGS_MAX + Math.ceil(PAGE_BYTES / HOLDING_BYTES);

async function describe(found: readonly UserRow[], services: DataServices) {
  const addresses = found.map(({ address }) => address);
  const of = (sql: string) => `${sql} = ANY($1::text[])`;
  const values = sqlValues();
  const roleSql = rolesOf(addresses, services.clock.now(), values);
  const [aliases, roles, holdings] = await Promise.all([
    rows<{ address: string; alias: string }>(
      services,
      `${of('SELECT address, alias FROM aliases WHERE address')} LIMIT ${ROWS_MAX}`,
      [addresses],
    ),
    rows<{ address: string; role: string }>(services, roleSql, values.list),
    rows<Holding>(
      services,
      `${of('SELECT address, asset_id, amount, height FROM balances WHERE address')} ORDER BY asset_id
         LIMIT ${ROWS_MAX}`,
      [addresses],
    ),
  ]);
  for (const list of [aliases, holdings]) {
    if (list.length === ROWS_MAX) {
      const text = `one of these users has more than ${HOLDINGS_MAX} aliases or assets`;
      throw apiError('AnswerTooBig', text);
    }
  }
  const aliasesOf = Map.groupBy(aliases, addressOf);
  const held = Map.groupBy(roles, addressOf);
  const heldBy = Map.groupBy(holdings, addressOf);
  const users = found.map(({ address, registered_ts }) => ({
    address,
    aliases: (aliasesOf.get(address) ?? []).map(({ alias }) => alias).sort(),
    registration_date: isoDate(Number(registered_ts)),
    permissions: [...new Set((held.get(address) ?? []).map(({ role }) => role))],
    balances: balancesOf(heldBy.get(address) ?? []),
  }));
  return { users, heightOf: (address: string) => heldBy.get(address)?.[0]?.height };
}

const addressOf = ({ address }: { readonly address: string }): string => address;

/** The native coin comes first, and also where nothing of it is left. */
function balancesOf(held: readonly Holding[]) {
  const native = held.find(({ asset_id }) => asset_id === '');
  const others = held.filter(({ asset_id, amount }) => asset_id !== '' && amount !== '0');
  return [
    { assetId: '', amount: integer(BigInt(native?.amount ?? 0)) },
    ...others.map(({ asset_id, amount }) => ({
      assetId: asset_id,
      amount: integer(BigInt(amount)),
    })),
  ];
}

const list = route({
  method: 'GET',
  path: '/users',
  access: 'apiKey',
  doc: 'Users by the beginning of their address, alias, role, asset, date; the newest first.',
  query,
  check,
  keep: KEPT,
  cost: { streamed: true },
  reply: Type.Array(User),
  handle: ({ query, http }, services) => page(query, asked(http), services),
});

const listPosted = route({
  method: 'POST',
  path: '/users',
  access: 'apiKey',
  doc: 'The same as GET /users, with the parameters in a JSON body.',
  body: queryBody(query, check),
  keep: KEPT,
  cost: { streamed: true, bytesIn: params.BODY_BYTES_MAX, elements: 100 },
  reply: Type.Array(User),
  handle: ({ body, http }, services) => page(body, asked(http, false), services),
});

const count = route({
  method: 'GET',
  path: '/users/count',
  access: 'apiKey',
  doc: 'The number of users that GET /users lists on all its pages.',
  query,
  check,
  cost: { streamed: true },
  reply: Count,
  async handle({ query: filter }, services) {
    await requireIndexes(services);
    const values = sqlValues();
    const matches = await matching(filter, values, services);
    const others = conditions(filter, services.clock.now(), values);
    const parts = matches.map((match) => selectOf(match, others)('true', 'u.ordinal'));
    const sql = `SELECT count(*) AS count FROM (${parts.join(' UNION ')}) found`;
    const [found] = await heavyRows<{ count: string }>(services, sql, values.list);
    return { count: found?.count ?? '0' };
  },
});

const byAddress = route({
  method: 'GET',
  path: '/users/{userAddress}',
  access: 'apiKey',
  doc: 'One user, by address or by `alias:<chain id>:<name>`.',
  params: { userAddress: params.pathText('Address, or alias in its long form.') },
  cost: { streamed: true },
  reply: User,
  async handle({ params: { userAddress } }, services) {
    await requireIndexes(services);
    const text = params.storable(userAddress);
    const alias = aliasName(text);
    const values = sqlValues();
    // An alias of another network names nobody here.
    const address =
      alias === undefined
        ? values.add(text)
        : `(SELECT address FROM aliases WHERE alias = ${values.add(alias)}
             AND ${values.add(aliasChain(text))} = (SELECT value FROM meta WHERE key = 'chain_id'))`;
    const found = await rows<UserRow>(
      services,
      `SELECT address, ordinal, registered_ts FROM users WHERE address = ${address}`,
      values.list,
    );
    if (found[0] === undefined) return notFound('User is not in blockchain');
    const { users, heightOf } = await describe(found, services);
    const height = heightOf(found[0].address);
    return new Answer(200, JSON_TYPE, print(users[0]), [
      ['cache-control', 'private, max-age=1'],
      ...(height === undefined ? [] : [['x-balance-height', String(height)] as const]),
    ]);
  },
});

export const users = { list, listPosted, count, byAddress };
