/** Transactions: their names, a summary line for each, and all their fields. */
import {
  addressLink,
  ago,
  amount,
  amountOf,
  assetLink,
  blockLink,
  contractLink,
  facts,
  h,
  link,
  moment,
  partyLink,
  portions,
  section,
  table,
  txLink,
} from './dom.js';
import { count, NATIVE_DECIMALS, plural, readable } from './format.js';
import { print } from './json.js';

const NAMES = {
  1: 'Genesis',
  2: 'Payment',
  3: 'Issue',
  4: 'Transfer',
  5: 'Reissue',
  6: 'Burn',
  7: 'Exchange',
  8: 'Lease',
  9: 'Lease cancellation',
  10: 'Alias',
  11: 'Mass transfer',
  12: 'Data',
  13: 'Account script',
  14: 'Sponsorship',
  15: 'Asset script',
  101: 'Genesis role',
  102: 'Role',
  103: 'New contract',
  104: 'Contract call',
  105: 'Contract result',
  106: 'Contract disabled',
  107: 'Contract update',
  110: 'Genesis node',
  111: 'Node registration',
  112: 'New policy',
  113: 'Policy update',
  114: 'Policy data',
  120: 'Atomic',
};
const ISSUE = 3;
const EXCHANGE = 7;

export const CREATION = 103;
const EXECUTABLE = [CREATION, 104, 107];
/** True for a transaction that a block contains only inside its result. */
export const isExecutable = ({ type }) => EXECUTABLE.includes(type);

export const typeName = (type) => NAMES[type] ?? `Type ${type}`;

const quantityOf = (tx, units) =>
  tx.type === ISSUE ? amount(units, tx.decimals) : amountOf(units, assetOf(tx));

const assetOf = (tx) => (tx.type === EXCHANGE ? tx.order1?.assetPair?.amountAsset : tx.assetId);

/** The effect of a transaction in one line. */
export function summary(tx) {
  const to = tx.recipient ?? tx.target;
  switch (tx.type) {
    case 3:
      return [quantityOf(tx, tx.quantity), ` of ${tx.name}`];
    case 5:
      return [quantityOf(tx, tx.quantity), ' more'];
    case 10:
      return [tx.alias];
    case 11:
      return [amountOf(tx.totalAmount, tx.assetId), ` to ${plural(tx.transferCount, 'account')}`];
    case 12:
      return [plural(tx.data.length, 'entry', 'entries')];
    case 101:
    case 102:
      return [tx.opType === 'remove' ? '− ' : '+ ', tx.role, ' → ', partyLink(to)];
    case 103:
      return [tx.contractName ?? '', ' ', contractLink(tx.id)];
    case 104:
    case 106:
    case 107:
      return [contractLink(tx.contractId)];
    case 105:
      return [typeName(tx.tx.type), ' ', contractLink(tx.tx.contractId ?? tx.tx.id)];
    case 111:
      return [tx.nodeName ?? '', ' ', partyLink(to)];
    case 112:
      return [tx.policyName ?? ''];
    case 120:
      return [plural(tx.transactions.length, 'transaction')];
    default:
  }
  if (tx.amount !== undefined) {
    return [quantityOf(tx, tx.amount), ...(to === undefined ? [] : [' → ', partyLink(to)])];
  }
  return to === undefined ? [] : ['→ ', partyLink(to)];
}

const columns = {
  id: ['Transaction', (tx) => txLink(tx.id)],
  type: ['Type', (tx) => typeName(tx.type)],
  height: ['Block', (tx) => (tx.height === undefined ? 'in the pool' : blockLink(tx.height))],
  time: ['Time', (tx) => ago(tx.timestamp)],
  sender: ['From', (tx) => (tx.sender === undefined ? '–' : addressLink(tx.sender))],
  what: ['What', (tx) => h('span', {}, summary(tx))],
  fee: ['Fee', (tx) => amountOf(tx.fee, tx.feeAssetId), 'number'],
};

/** A list of transactions with the given columns. */
export const txTable = (caption, txs, names, empty) =>
  table(
    caption,
    names.map((name) => columns[name]),
    txs,
    empty,
  );

const LABELS = {
  id: 'Id',
  sender: 'From',
  recipient: 'To',
  target: 'Account',
  opType: 'Operation',
  dueTimestamp: 'Ends',
  feeAssetId: 'Fee asset',
  assetId: 'Asset',
  leaseId: 'Lease',
  lease: 'Lease',
  contractId: 'Contract',
  policyId: 'Policy',
  totalAmount: 'Total',
  senderPublicKey: 'Public key of the sender',
  targetPublicKey: 'Public key of the account',
  atomicId: 'Part of',
  miner: 'Key of the generator',
};

/** `nodeName` as `Node name`. */
const labelOf = (key) =>
  LABELS[key] ??
  key[0].toUpperCase() + key.slice(1).replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`);

/** Fields that the page shows elsewhere, or that mean nothing to a reader. */
const ELSEWHERE = new Set([
  'type',
  'version',
  'height',
  'final',
  'timestamp',
  'transfers',
  'data',
  'params',
  'results',
  'chainId',
  'transferCount',
  'tx',
  'order1',
  'order2',
  'proofs',
  'signature',
  'transactions',
]);

function shownValue(key, value, tx) {
  if (value === null || value === undefined || value === '') return undefined;
  switch (key) {
    case 'sender':
    case 'author':
    case 'recipient':
    case 'target':
      return partyLink(value, true);
    case 'amount':
    case 'quantity':
    case 'totalAmount':
    case 'minSponsoredAssetFee':
      return quantityOf(tx, value);
    case 'fee':
      return amountOf(value, tx.feeAssetId);
    case 'buyMatcherFee':
    case 'sellMatcherFee':
      return amount(value, NATIVE_DECIMALS);
    case 'assetId':
    case 'feeAssetId':
      return assetLink(value);
    case 'id':
    case 'senderPublicKey':
    case 'targetPublicKey':
    case 'authorPublicKey':
    case 'miner':
    case 'imageHash':
    case 'dataHash':
      return h('span', { className: 'id' }, value);
    case 'leaseId':
    case 'atomicId':
    case 'policyId':
      return txLink(value, true);
    case 'contractId':
      return contractLink(value, true);
    case 'dueTimestamp':
      return moment(value);
    case 'alias':
      return link(`#/alias/${encodeURIComponent(value)}`, value);
    case 'attachment': {
      const text = readable(value);
      return text === undefined ? h('code', {}, value) : h('q', {}, text);
    }
    case 'recipients':
    case 'owners':
      return h(
        'ul',
        {},
        value.map((one) => h('li', {}, addressLink(one, true))),
      );
    default:
      if (typeof value === 'object') return h('pre', {}, print(value));
      if (typeof value === 'boolean') return value ? 'yes' : 'no';
      return typeof value === 'string' ? h('span', { className: 'text' }, value) : count(value);
  }
}

export const entryTable = (caption, entries) =>
  portions(entries, (some) =>
    table(
      caption,
      [
        ['Key', (entry) => h('span', { className: 'text' }, entry.key)],
        ['Type', (entry) => entry.type],
        ['Value', (entry) => h('span', { className: 'text' }, String(entry.value))],
      ],
      some,
    ),
  );

export const outcomeColumns = [
  ['Time', ({ timestamp }) => ago(timestamp)],
  ['Status', ({ status }) => h('span', { className: status === 'Success' ? '' : 'bad' }, status)],
  ['Code', ({ code }) => code ?? '–'],
  ['Message', ({ message }) => h('span', { className: 'text' }, message)],
  ['Miner', ({ sender }) => addressLink(sender)],
];

export const outcomeTable = (outcomes) =>
  table('What miners say of this transaction', outcomeColumns, outcomes);

/** Everything about a transaction except its place in the chain. */
export function txDetails(tx) {
  const parts = fieldsOf(tx);
  if (tx.tx !== undefined) parts.push(section(typeName(tx.tx.type), ...fieldsOf(tx.tx)));
  const raw = h('pre', {});
  const details = h('details', {}, h('summary', {}, 'As JSON, with proofs'), raw);
  details.addEventListener('toggle', () => {
    if (details.open) raw.textContent = print(tx);
  });
  parts.push(details);
  return parts;
}

function fieldsOf(tx) {
  const rows = Object.keys(tx)
    .filter((key) => !ELSEWHERE.has(key))
    .map((key) => [labelOf(key), shownValue(key, tx[key], tx)]);
  const parts = [
    facts([
      ['Type', `${typeName(tx.type)} (${tx.type}${tx.version ? `, version ${tx.version}` : ''})`],
      ['Time', moment(tx.timestamp)],
      ['Contract', tx.type === CREATION && contractLink(tx.id, true)],
      ...rows,
    ]),
  ];
  if (tx.transfers !== undefined) {
    const cells = [
      ['To', (one) => partyLink(one.recipient)],
      ['Amount', (one) => amountOf(one.amount, tx.assetId), 'number'],
    ];
    const draw = (some) => table('Transfers', cells, some);
    parts.push(section('Transfers', portions(tx.transfers, draw)));
  }
  for (const [key, title] of [
    ['data', 'Data'],
    ['params', 'Parameters'],
    ['results', 'Results'],
  ]) {
    if (tx[key] !== undefined) parts.push(section(title, entryTable(title, tx[key])));
  }
  if (tx.transactions !== undefined) {
    const names = ['id', 'type', 'sender', 'what', 'fee'];
    const draw = (some) => txTable('Members, together or not at all', some, names);
    parts.push(section('Members', portions(tx.transactions, draw)));
  }
  for (const key of ['order1', 'order2']) {
    const order = tx[key];
    if (order) parts.push(section(`${labelOf(order.orderType)} order`, h('pre', {}, print(order))));
  }
  return parts;
}
