/** Pages of contracts: all of them, and one with its versions, state, calls and failures. */
import { growing } from './accounts.js';
import {
  addressLink,
  ago,
  blockLink,
  contractLink,
  facts,
  h,
  heading,
  link,
  moment,
  portions,
  section,
  table,
  txLink,
} from './dom.js';
import { count, plural, short } from './format.js';
import { print } from './json.js';
import { get, maybe, path, Refused } from './rest.js';
import { CREATION, entryTable, outcomeColumns, typeName } from './tx.js';

const END = 106;
const CALLS = 25;
const ENTRIES = 50;
/** A longer pool is not searched for calls that wait. */
const POOL_MAX = 1000;

const activity = ({ active }) =>
  h('span', { className: active ? 'badge' : 'badge bad' }, active ? 'active' : 'ended');

export async function contractsPage({ signal }) {
  const contracts = await get('contracts', signal);
  return {
    title: 'Contracts',
    content: [
      heading('Contracts'),
      h('p', {}, `${plural(contracts.length, 'contract')} on this chain.`),
      portions(contracts, (some) =>
        table(
          'Contracts',
          [
            ['Contract', (one) => contractLink(one.contractId)],
            ['Image', (one) => h('span', { className: 'text' }, one.image)],
            ['Version', (one) => count(one.version), 'number'],
            ['State', activity],
          ],
          some,
          'Nobody has created a contract yet.',
        ),
      ),
    ],
  };
}

export async function contractPage({ signal, argument, onBlock, reload }) {
  const [contract, failures, waiting] = await Promise.all([
    maybe(get(path`contracts/info/${argument}`, signal), undefined),
    get(path`contracts/failures/${argument}`, signal),
    waitingFor(argument, signal),
  ]);
  if (contract === undefined && failures.length === 0 && waiting.length === 0) {
    throw new Refused(404, `There is no contract ${argument}.`);
  }
  onBlock(reloadOnNews(argument, signal, reload));
  const latest = [
    waiting.length > 0 && section('Waiting', waitingTable(waiting)),
    section('Failures', failureTable(failures)),
  ];
  if (contract === undefined) {
    const note = 'No block contains the creation of this contract.';
    return {
      title: `Contract ${short(argument)}`,
      content: [
        heading('Contract'),
        idLine(argument),
        h('p', { className: 'note' }, note),
        ...latest,
      ],
    };
  }
  const versions = numbered(await get(path`contracts/versions/${argument}`, signal));
  const creation = versions.find(({ tx }) => tx.type === CREATION);
  const name = creation?.tx.contractName || undefined;
  const [state, calls] = await Promise.all([
    stateList(argument, signal),
    callList(argument, signal),
  ]);
  return {
    title: `Contract ${name ?? short(argument)}`,
    content: [
      heading(name ?? 'Contract'),
      idLine(argument),
      facts([
        ['State', activity(contract)],
        ['Image', h('span', { className: 'text' }, contract.image)],
        ['Hash of the image', h('span', { className: 'id' }, contract.imageHash)],
        ['Version', count(contract.version)],
        ['Created by', creation && addressLink(creation.tx.sender, true)],
        [
          'Created',
          creation && [moment(creation.tx.timestamp), h('small', {}, ago(creation.tx.timestamp))],
        ],
      ]),
      section('Versions', versionTable(versions)),
      section('State', state),
      section('Calls', calls),
      ...latest,
    ],
  };
}

/** Loads the page again once something has happened, unless the reader is using a control of it. */
function reloadOnNews(id, signal, reload) {
  let known;
  return async () => {
    const news = await Promise.all([
      maybe(get(path`contracts/info/${id}`, signal), undefined),
      maybe(get(`${path`contracts/calls/${id}`}?limit=1`, signal), undefined),
      get(path`contracts/failures/${id}`, signal),
      waitingFor(id, signal),
    ]);
    const text = print(news);
    const isInUse = document.activeElement?.matches('main button, main a') === true;
    if (known !== undefined && known !== text && !isInUse) return reload();
    known ??= text;
  };
}

const idLine = (id) => h('p', { className: 'id lead' }, id);

/** The newest first; the transaction inside a result, and the version that it made. */
function numbered(results) {
  let version = 0;
  return results
    .toReversed()
    .map(({ id, height, tx, ...own }) => {
      const changed = tx ?? { id, ...own };
      if (changed.type !== END) version++;
      return { id, height, tx: changed, version };
    })
    .reverse();
}

const versionTable = (versions) =>
  table(
    'Versions',
    [
      ['Version', ({ tx, version }) => (tx.type === END ? 'ended' : count(version))],
      ['Block', ({ height }) => blockLink(height)],
      ['Time', ({ tx }) => ago(tx.timestamp)],
      ['Image', ({ tx }) => h('span', { className: 'text' }, tx.image ?? '–')],
      [
        'Hash',
        ({ tx }) =>
          tx.imageHash && h('span', { className: 'id', title: tx.imageHash }, short(tx.imageHash)),
      ],
      ['Transaction', ({ id, tx }) => txLink(id, false, typeName(tx.type))],
    ],
    versions,
  );

async function stateList(id, signal) {
  const { holder } = await growing(
    async (before) => {
      const where = path`contracts/${id}`;
      const items = await get(`${where}?offset=${before.length}&limit=${ENTRIES}`, signal);
      return { items, more: items.length === ENTRIES };
    },
    (entries) => entryTable('State', entries),
  );
  return holder;
}

async function callList(id, signal) {
  const { holder } = await growing(
    async (before) => {
      const after = before.length === 0 ? '' : `&after=${before.at(-1).id}`;
      const where = path`contracts/calls/${id}`;
      const items = await get(`${where}?limit=${CALLS}${after}`, signal);
      return { items, more: items.length === CALLS };
    },
    (calls) => table('Newest first', callColumns, calls, 'Nobody has called this contract.'),
  );
  return holder;
}

const callColumns = [
  ['Call', ({ id, tx }) => link(`#/tx/${id}`, short(tx.id), { className: 'id', title: tx.id })],
  ['Block', ({ height }) => blockLink(height)],
  ['Time', ({ tx }) => ago(tx.timestamp)],
  ['From', ({ tx }) => addressLink(tx.sender)],
  ['Parameters', ({ tx }) => entryList(tx.params)],
  ['Results', ({ results }) => entryList(results)],
];

const SHOWN = 4;
const CHARS_MAX = 60;
const cut = (text) => (text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)}…` : text);

/** The first entries, each on a line. */
function entryList(entries) {
  if (entries.length === 0) return '–';
  const lines = entries
    .slice(0, SHOWN)
    .map(({ key, value }) => h('li', {}, `${cut(key)} = ${cut(String(value))}`));
  const rest = entries.length - SHOWN;
  return h(
    'ul',
    { className: 'text entries' },
    lines,
    rest > 0 && h('li', {}, `and ${count(rest)} more`),
  );
}

const failureTable = (failures) =>
  table(
    'Transactions that did not succeed in the last hour',
    [['Transaction', ({ txId }) => txLink(txId)], ...outcomeColumns],
    failures,
    'None in the last hour, as far as this node knows.',
  );

async function waitingFor(id, signal) {
  const { size } = await get('transactions/unconfirmed/size', signal);
  if (size === 0 || size > POOL_MAX) return [];
  const all = await get('transactions/unconfirmed', signal);
  const idOf = (tx) => (tx.type === CREATION ? tx.id : tx.contractId);
  return all.filter((tx) => idOf(tx) === id);
}

const waitingTable = (txs) =>
  table(
    'Transactions that wait for a miner',
    [
      ['Transaction', ({ id, type }) => txLink(id, false, typeName(type))],
      ['Time', ({ timestamp }) => ago(timestamp)],
      ['From', ({ sender }) => addressLink(sender)],
      ['Parameters', ({ params = [] }) => entryList(params)],
    ],
    txs,
  );
