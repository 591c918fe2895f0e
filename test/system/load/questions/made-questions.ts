/**
 * Questions to the data service, made from the declarations of its endpoints: every filter alone,
 * with typical, rare, frequent, absent and nasty values, and every pair of filters. A parameter that
 * has no values here is an error, so a new one takes part from its first day.
 */

import { dataRoutes } from '../../../../src/data-service/api/data-api.ts';
import type { DataServices } from '../../../../src/data-service/api/services.ts';
import { type AnyRoute, pathNames } from '../../../../src/rest-framework/route.ts';
import { KNOWN, type MadeRows } from '../../../data-service/made-rows.ts';

export interface Question {
  readonly method: 'GET' | 'POST';
  /** With its query. */
  readonly path: string;
  /** Of a POST. */
  readonly body?: string;
  /** The answer has no end. */
  readonly isStream: boolean;
}

type Values = Readonly<Record<string, string>>;

const ROCKETS = '🚀';

/** Texts that mean the most work for a search. The first ones meet each other filter. */
const texts = (made: MadeRows): readonly string[] => [
  KNOWN.frequentText,
  KNOWN.rareText,
  KNOWN.absentText,
  'a',
  ROCKETS.repeat(3),
  KNOWN.oldText,
  made.busyAddress.slice(0, 12),
  KNOWN.frequentKey,
  KNOWN.mediumText,
  'ab',
  ROCKETS,
  'e 5',
  ' 1 ',
  '%%%',
  '___',
  '\\',
  "'",
  'ё',
  'счёт',
  'x'.repeat(512),
  ROCKETS.repeat(256),
  'ab '.repeat(170),
  '- '.repeat(250),
  'invoice 1',
  'value 3',
  'text',
  'name-',
  'n',
  'NATIVE',
  '3M',
  '3Mabcdef',
  String(KNOWN.frequentAmount),
  '9223372036854775807',
  '1111111111',
  made.busyAddress,
  made.someId.slice(0, 4),
  made.someSignature.slice(0, 8),
  made.frequentAsset,
];

/** So many values of a filter meet those of another one. */
const PAIRED = 8;

const valuesOf = (made: MadeRows): Readonly<Record<string, readonly string[]>> => {
  const addresses = [made.busyAddress, made.rareAddress, '3MnoSuchAddress'];
  return {
    search: texts(made),
    scope: ['in_description', 'in_keys_values', 'in_addresses', 'in_aliases', 'in_all', 'in_sums'],
    type: ['4', String(KNOWN.rareType), String(KNOWN.absentType), '3,4,5,6,10,11,12,102,104'],
    assetId: ['NATIVE', made.frequentAsset, made.rareAsset, 'noSuchAsset'],
    amount: [String(KNOWN.frequentAmount), String(KNOWN.rareAmount), '9223372036854775807'],
    amountFrom: ['0', '1000000000', '9223372036854775807'],
    amountTo: ['9223372036854775807', '2000', '0'],
    dateFrom: [made.firstDay, made.middleDay, made.lastDay, '9999-12-31'],
    dateTo: [made.lastDay, made.middleDay, made.firstDay],
    permissions: [KNOWN.frequentRole, KNOWN.rareRole, 'dex'],
    index: ['1', String(made.txs / 2), String(made.txs), '9007199254740991'],
    limit: ['1', '500'],
    sort: ['asc', 'desc'],
    sender: addresses,
    recipient: addresses,
    heightFrom: ['1', String(made.blocks / 2), '2147483647'],
    heightTo: ['2147483647', String(made.blocks / 2), '1'],
    contractId: [made.frequentContract, made.rareContract, 'noSuchContract'],
    extended: ['true', 'false'],
    countTo: ['10000', '1000000'],
    blocks: ['1', '20000'],
    height: ['1', String(made.blocks), '2147483647', '9223372036854775807'],
    id: ['NATIVE', made.frequentAsset, made.rareAsset, made.someId, 'none', '\0', ROCKETS],
    userAddress: [...addresses, 'alias:T:name-57', 'alias:T:', ROCKETS],
    key: [KNOWN.frequentKey, KNOWN.oldKey, KNOWN.rareKey, 'no key', '\0', ROCKETS.repeat(64)],
    value: ['value 3', 'no value', ROCKETS.repeat(64)],
  };
};

/** What a filter needs beside it, as the refusal says. */
function completed(query: Values, made: MadeRows): Values {
  const has = (...names: readonly string[]): boolean =>
    names.some((name) => query[name] !== undefined);
  return {
    ...(has('scope') ? { search: KNOWN.frequentText } : {}),
    ...(has('amount', 'amountFrom', 'amountTo') ? { type: '4', assetId: 'NATIVE' } : {}),
    ...(has('permissions') ? { type: '102' } : {}),
    ...(has('dateFrom') ? { dateTo: made.lastDay } : {}),
    ...(has('dateTo') ? { dateFrom: made.firstDay } : {}),
    ...query,
  };
}

type Route = AnyRoute<DataServices>;

const isPosted = ({ body }: Route): boolean => body !== undefined;

/** A body has its parameters as members. */
const namesOf = ({ query, body }: Route): readonly string[] =>
  Object.keys(query ?? (body?.schema['properties'] as object | undefined) ?? {});

function questionOf(route: Route, given: Values, made: MadeRows): Question {
  const query = new Map(Object.entries(completed(given, made)));
  let { path } = route;
  for (const name of pathNames(route.path)) {
    path = path.replace(`{${name}}`, encodeURIComponent(query.get(name)!));
    query.delete(name);
  }
  const { method } = route;
  const isStream = route.replyType === 'text/event-stream';
  if (isPosted(route)) {
    return { method, path, body: JSON.stringify(Object.fromEntries(query)), isStream };
  }
  const text = new URLSearchParams([...query]).toString();
  return { method, path: text === '' ? path : `${path}?${text}`, isStream };
}

/** With `isFull` each pair has all its values, else one each. */
export function* madeQuestions(made: MadeRows, isFull: boolean): Generator<Question> {
  const known = valuesOf(made);
  let turn = 0;
  for (const route of dataRoutes) {
    const inPath = pathNames(route.path);
    const names = [...inPath, ...namesOf(route)];
    const values = names.map((name) => {
      const own = known[name];
      if (own === undefined) throw new Error(`${name} of ${route.path} has no values to ask for`);
      return own;
    });
    const always = Object.fromEntries(inPath.map((name) => [name, known[name]![0]!]));
    const ask = (given: Values): Question => questionOf(route, { ...always, ...given }, made);
    yield ask({});
    for (const [i, name] of names.entries()) {
      for (const value of values[i]!) {
        yield ask({ [name]: value });
        if (names.includes('sort')) yield ask({ [name]: value, sort: 'asc' });
      }
    }
    // The same handler answers both methods.
    if (isPosted(route)) continue;
    for (const [i, name] of names.entries()) {
      for (const [j, other] of names.slice(i + 1).entries()) {
        const [own, others] = [values[i]!, values[i + 1 + j]!].map((of) => of.slice(0, PAIRED));
        const pairs = own!.flatMap((value) => others!.map((one) => [value, one] as const));
        const asked = isFull ? pairs : [pairs[turn++ % pairs.length]!];
        for (const [value, one] of asked) yield ask({ [name]: value, [other]: one });
      }
    }
  }
}
