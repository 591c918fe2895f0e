/**
 * Every list of the data service with every scope, filter and order, on made rows: what the plans
 * and the speed of lists are judged by. Each is asked for at the first page, in the middle and at
 * the end.
 */
import { SCOPES } from '../../src/data-service/api/query-params.ts';
import { KNOWN, type MadeRows } from './made-rows.ts';

export interface ListRequest {
  /** Like `transactions: in_description invoice`. */
  readonly name: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The highest value of `index`; undefined where a list has one page. */
  readonly last: number | undefined;
}

type Query = Record<string, string>;

/** Texts for a search in everything and in each scope that they fit. */
const searches = (made: MadeRows): Readonly<Record<string, readonly string[]>> => ({
  in_description: [
    KNOWN.frequentText,
    KNOWN.mediumText,
    KNOWN.scarceText,
    KNOWN.rareText,
    KNOWN.oldText,
    KNOWN.absentText,
  ],
  in_sums: [String(KNOWN.frequentAmount), String(KNOWN.rareAmount), '123456789012'],
  in_blocks: [String(made.blocks / 2), made.someBlock, made.someBlock.slice(0, 8)],
  in_aliases: [KNOWN.frequentAlias, 'name-', 'n', 'name-12', 'no-such-name'],
  in_addresses: [made.busyAddress, made.rareAddress, made.busyAddress.slice(0, 12)],
  in_addresses_author: [made.busyAddress, made.rareAddress],
  in_addresses_participant: [made.busyAddress, made.rareAddress],
  in_tx_ids: [made.someId, made.someId.slice(0, 8)],
  in_token_ids: ['NATIVE', made.frequentAsset, made.rareAsset, made.rareAsset.slice(0, 6)],
  in_signatures: [made.someSignature, made.someSignature.slice(0, 10), made.someProof],
  in_keys_values: [
    KNOWN.frequentKey,
    KNOWN.rareKey,
    KNOWN.oldKey,
    'value 3',
    'text 1234',
    'ext',
    KNOWN.absentText,
  ],
});

const transactionFilters = (made: MadeRows): readonly Query[] => [
  {},
  { extended: 'true' },
  { type: '4' },
  { type: String(KNOWN.rareType) },
  { type: String(KNOWN.absentType) },
  { type: `3,10,${KNOWN.rareType}` },
  ...['NATIVE', made.frequentAsset, made.rareAsset].flatMap((assetId) => [
    { assetId },
    { assetId, type: '4' },
    { assetId, type: '11' },
    { assetId, type: '4,11' },
    { assetId, type: '4', amount: String(KNOWN.frequentAmount) },
    { assetId, type: '4', amount: String(KNOWN.rareAmount) },
    { assetId, type: '4', amountFrom: '5' },
    { assetId, type: '4', amountTo: '2000' },
    { assetId, type: '4', amountFrom: '1000', amountTo: '1100' },
    { assetId, type: '4', amountFrom: '1000000000' },
  ]),
  { dateFrom: made.firstDay, dateTo: made.lastDay },
  { dateFrom: made.middleDay, dateTo: made.middleDay },
  { dateFrom: made.firstDay, dateTo: made.firstDay, type: '4' },
  { heightFrom: String(made.blocks / 2), heightTo: String(made.blocks / 2 + 100) },
  { heightFrom: '2', assetId: 'NATIVE' },
  { type: '102', permissions: KNOWN.frequentRole },
  { type: '102', permissions: KNOWN.rareRole },
  { type: '101,102', permissions: `${KNOWN.rareRole},${KNOWN.frequentRole}` },
  ...[made.busyAddress, made.rareAddress].flatMap((address) => [
    { sender: address },
    { recipient: address },
    { sender: address, type: '4' },
    { sender: address, dateFrom: made.middleDay, dateTo: made.middleDay },
    { recipient: address, dateFrom: made.firstDay, dateTo: made.lastDay },
  ]),
  { sender: made.rareAddress, recipient: made.busyAddress },
  { contractId: made.frequentContract },
  { contractId: made.rareContract },
  { contractId: made.frequentContract, type: '104' },
  { contractId: made.frequentContract, type: '3,4,5,6,10,11,12,102,104' },
  { contractId: made.rareContract, type: '3,4,5,6,10,11,12,102,104' },
  { contractId: made.frequentContract, sender: made.busyAddress },
  { search: KNOWN.frequentText, scope: 'in_description', type: '11' },
  {
    search: KNOWN.frequentText,
    scope: 'in_description',
    dateFrom: made.firstDay,
    dateTo: made.firstDay,
  },
];

const listed = (path: string, queries: readonly Query[], last: number | undefined): ListRequest[] =>
  queries.map((query) => ({
    name: `${path} ${Object.entries(query)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}`.trim(),
    path,
    query,
    last,
  }));

export function listRequests(made: MadeRows): readonly ListRequest[] {
  const texts = searches(made);
  const scoped = SCOPES.flatMap((scope) =>
    (texts[scope] ?? []).map((search) => ({ search, scope })),
  );
  const everywhere = [...new Set(Object.values(texts).flat())].map((search) => ({ search }));
  const entries = [KNOWN.frequentKey, KNOWN.oldKey, KNOWN.rareKey, 'no key'].flatMap((key) => [
    encodeURIComponent(key),
    `${encodeURIComponent(key)}/${encodeURIComponent('value 3')}`,
  ]);
  return [
    ...listed('/transactions', [...transactionFilters(made), ...scoped, ...everywhere], made.txs),
    ...listed('/blocks', [{}], made.blocks),
    ...listed('/assets', [{}, ...assetSearches(made)], made.txs),
    ...listed('/users', userFilters(made), made.users),
    ...entries.flatMap((key) =>
      ['txIds', 'txData'].flatMap((what) => listed(`/api/v1/${what}/${key}`, [{}], made.txs)),
    ),
    ...['NATIVE', made.frequentAsset, made.rareAsset].flatMap((asset) =>
      listed(`/assets/${asset}/holders`, [{}], undefined),
    ),
  ];
}

const assetSearches = (made: MadeRows): readonly Query[] =>
  ['Token', 'Token 107', 'made', KNOWN.absentText, made.rareAsset, made.rareAsset.slice(0, 5)].map(
    (search) => ({ search }),
  );

const userFilters = (made: MadeRows): readonly Query[] => [
  {},
  { search: '3M' },
  { search: made.rareAddress.slice(0, 4) },
  { search: made.rareAddress },
  { search: 'name-' },
  { search: 'ame-5' },
  { search: 'name-57', scope: 'in_aliases' },
  { permissions: KNOWN.frequentRole },
  { permissions: KNOWN.rareRole },
  { assetId: 'NATIVE' },
  { assetId: made.frequentAsset },
  { assetId: made.rareAsset },
  { dateFrom: made.firstDay, dateTo: made.lastDay },
  { dateFrom: made.firstDay, dateTo: made.firstDay },
  { dateFrom: made.middleDay, dateTo: made.middleDay },
];

/** The address of a page: at the beginning, in the middle, at the end of the list, in both orders. */
export function pagesOf({ path, query, last }: ListRequest, limit: number): readonly string[] {
  const asked = (more: Query): string => `${path}?${new URLSearchParams({ ...query, ...more })}`;
  const first = asked({ limit: String(limit) });
  if (last === undefined) return [first];
  return [
    first,
    asked({ limit: String(limit), index: String(Math.floor(last / 2)) }),
    asked({ limit: String(limit), index: String(Math.min(last, limit * 10)) }),
    asked({ limit: String(limit), sort: 'asc' }),
    asked({ limit: String(limit), sort: 'asc', index: String(Math.floor(last / 2)) }),
  ];
}
