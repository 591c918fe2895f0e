/** Users: every address that the chain names, with aliases, roles and balances. */
import Type from 'typebox';
import { Answer, details, JSON_TYPE, print } from '../../../api/answer.ts';
import { isoDate } from '../../../api/iso-date.ts';
import type { ParamValues } from '../../../api/params.ts';
import { integer } from '../../../base/json.ts';
import { aliasName } from '../../crawler/described.ts';
import { queryBody } from '../query-body.ts';
import * as params from '../query-params.ts';
import { type Asked, asked, KEPT, pageAnswer, requireIndexes, rows, tipOf } from '../reading.ts';
import { type DataServices, route } from '../services.ts';
import { Count, User } from '../shapes.ts';
import { literally, type SqlValues, sqlValues, startsWith } from '../sql-values.ts';
import { checkDates } from '../transaction-filter.ts';

const group = 'users';
const access = 'apiKey';
const PART_CHARS_MIN = 3;

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

/** Roles that an address has at `now`: its last operation on the role is `add`, and not yet due. */
const holdsNow = (address: string, now: number, values: SqlValues): string =>
  `p.op = 'add' AND (p.due_ts IS NULL OR p.due_ts > ${values.add(now)})
   AND NOT EXISTS (SELECT FROM permission_ops later WHERE later.address = ${address}
     AND later.role = p.role AND later.seq > p.seq)`;

function conditions(filter: Filter, now: number, values: SqlValues): string[] {
  const { search, permissions, assetId, dateFrom, dateTo } = filter;
  const found: string[] = [];
  if (search !== undefined)
    found.push(matching(search, filter.scope ?? params.USER_SCOPES, values));
  if (permissions !== undefined) {
    found.push(`u.address IN (SELECT p.address FROM permission_ops p
      WHERE p.role = ANY(${values.add([...permissions], 'text[]')})
        AND ${holdsNow('p.address', now, values)})`);
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

function matching(search: string, scopes: readonly string[], values: SqlValues): string {
  const parts: string[] = [];
  if (scopes.includes('in_addresses')) {
    parts.push(`SELECT address FROM users WHERE ${startsWith('address', search, values)}`);
  }
  if (scopes.includes('in_aliases')) {
    parts.push(`SELECT address FROM aliases WHERE ${startsWith('alias', search, values)}`);
    if (search.length >= PART_CHARS_MIN) {
      const pattern = values.add(`%${literally(search)}%`);
      parts.push(`SELECT address FROM aliases WHERE alias ILIKE ${pattern}`);
    }
  }
  return `u.address IN (${parts.join(' UNION ')})`;
}

interface UserRow {
  readonly address: string;
  readonly ordinal: string;
  readonly registered_ts: string;
}

async function page(filter: Filter, from: Asked, services: DataServices) {
  const { index, limit, sort } = filter;
  await requireIndexes(services);
  const tip = await tipOf(services);
  const values = sqlValues();
  const where = conditions(filter, services.clock.now(), values);
  if (index !== undefined)
    where.push(`u.ordinal ${sort === 'desc' ? '<=' : '>='} ${values.add(index)}`);
  const found = await rows<UserRow>(
    services,
    `SELECT u.address, u.ordinal, u.registered_ts FROM users u
     ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`}
     ORDER BY u.ordinal ${sort} LIMIT ${limit + 1}`,
    values.list,
  );
  const shown = found.slice(0, limit);
  const { users } = await describe(shown, services);
  const [last] = await rows<{ total: string }>(
    services,
    'SELECT coalesce(max(ordinal), 0) AS total FROM users',
  );
  return pageAnswer(users, from, tip, {
    first: shown[0] && Number(shown[0].ordinal),
    next: found[limit] && Number(found[limit]!.ordinal),
    total: Number(last?.total ?? 0),
  });
}

interface Holding {
  readonly address: string;
  readonly asset_id: string;
  readonly amount: string;
  readonly height: number;
}

async function describe(found: readonly UserRow[], services: DataServices) {
  const addresses = found.map(({ address }) => address);
  const of = (sql: string) => `${sql} = ANY($1::text[])`;
  const values = sqlValues();
  values.add(addresses);
  const roleSql = `SELECT p.address, p.role FROM permission_ops p
    WHERE p.address = ANY($1::text[]) AND ${holdsNow('p.address', services.clock.now(), values)}
    ORDER BY p.role`;
  const [aliases, roles, holdings] = await Promise.all([
    rows<{ address: string; alias: string }>(
      services,
      `${of('SELECT address, alias FROM aliases WHERE address')} ORDER BY alias`,
      [addresses],
    ),
    rows<{ address: string; role: string }>(services, roleSql, values.list),
    rows<Holding>(
      services,
      `${of('SELECT address, asset_id, amount, height FROM balances WHERE address')} ORDER BY asset_id`,
      [addresses],
    ),
  ]);
  const aliasesOf = grouped(aliases);
  const rolesOf = grouped(roles);
  const heldBy = grouped(holdings);
  const users = found.map(({ address, registered_ts }) => ({
    address,
    aliases: (aliasesOf.get(address) ?? []).map(({ alias }) => alias),
    registration_date: isoDate(Number(registered_ts)),
    permissions: [...new Set((rolesOf.get(address) ?? []).map(({ role }) => role))],
    balances: balancesOf(heldBy.get(address) ?? []),
  }));
  return { users, heightOf: (address: string) => heldBy.get(address)?.[0]?.height };
}

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

function grouped<T extends { readonly address: string }>(found: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of found) {
    const group = groups.get(row.address);
    if (group === undefined) groups.set(row.address, [row]);
    else group.push(row);
  }
  return groups;
}

const list = route({
  method: 'GET',
  path: '/users',
  access,
  group,
  doc: 'Users by the beginning of their address, alias, role, asset, date; the newest first.',
  query,
  check,
  keep: KEPT,
  cost: { inTurns: true },
  reply: Type.Array(User),
  handle: ({ query, http }, services) => page(query, asked(http), services),
});

const listPosted = route({
  method: 'POST',
  path: '/users',
  access,
  group,
  doc: 'The same as GET /users, with the parameters in a JSON body.',
  body: queryBody(query, check),
  keep: KEPT,
  cost: { inTurns: true, bytesIn: params.BODY_BYTES_MAX, elements: 100 },
  reply: Type.Array(User),
  handle: ({ body, http }, services) => page(body, asked(http), services),
});

const count = route({
  method: 'GET',
  path: '/users/count',
  access,
  group,
  doc: 'The number of users that GET /users lists on all its pages.',
  query,
  check,
  cost: { inTurns: true },
  reply: Count,
  async handle({ query: filter }, services) {
    await requireIndexes(services);
    const values = sqlValues();
    const where = conditions(filter, services.clock.now(), values);
    const sql = `SELECT count(*) AS count FROM users u
      ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`}`;
    const [found] = await rows<{ count: string }>(services, sql, values.list);
    return { count: found?.count ?? '0' };
  },
});

const byAddress = route({
  method: 'GET',
  path: '/users/{userAddress}',
  access,
  group,
  doc: 'One user, by address or by `alias:<chain id>:<name>`.',
  params: { userAddress: params.pathText('Address, or alias in its long form.') },
  cost: { inTurns: true },
  reply: User,
  async handle({ params: { userAddress } }, services) {
    await requireIndexes(services);
    const text = params.storable(userAddress);
    const alias = aliasName(text);
    const address =
      alias === undefined
        ? 'address = $1'
        : 'address = (SELECT address FROM aliases WHERE alias = $1)';
    const found = await rows<UserRow>(
      services,
      `SELECT address, ordinal, registered_ts FROM users WHERE ${address}`,
      [alias ?? text],
    );
    if (found[0] === undefined) return details(404, 'User is not in blockchain');
    const { users, heightOf } = await describe(found, services);
    const height = heightOf(found[0].address);
    return new Answer(200, JSON_TYPE, print(users[0]), [
      ['cache-control', 'private, max-age=1'],
      ...(height === undefined ? [] : [['x-balance-height', String(height)] as const]),
    ]);
  },
});

export const users = { list, listPosted, count, byAddress };
