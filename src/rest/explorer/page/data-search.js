/** Search over all transactions. The filters are the address of the page. */

import { download } from './data-download.js';
import { emptyNote, nextLink } from './data-paging.js';
import { ask, WrongParameters } from './data-rest.js';
import { h, heading, link } from './dom.js';
import { plural } from './format.js';
import { txTable, typeName } from './tx.js';

const TYPES = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 101, 102, 103, 104, 105, 106, 107, 110, 111,
  112, 113, 114, 120,
];
const SCOPES = [
  ['', 'Everywhere'],
  ['in_description', 'Messages and names'],
  ['in_keys_values', 'Keys and values'],
  ['in_sums', 'Amounts'],
  ['in_addresses', 'Addresses'],
  ['in_addresses_author', 'Senders'],
  ['in_addresses_participant', 'Participants'],
  ['in_aliases', 'Aliases'],
  ['in_tx_ids', 'Ids of transactions'],
  ['in_token_ids', 'Ids of assets'],
  ['in_signatures', 'Signatures'],
  ['in_blocks', 'Blocks'],
];
const ROWS = 100;
/** More are not worth the work. */
const COUNT_TO = 10_000;
const COUNT_MS = 3000;
const COLUMNS = ['time', 'height', 'id', 'type', 'sender', 'what', 'fee'];

const fields = [
  { name: 'search', label: 'Text', type: 'search' },
  { name: 'scope', label: 'Where', options: SCOPES },
  {
    name: 'type',
    label: 'Type',
    options: [['', 'All'], ...TYPES.map((type) => [String(type), `${type} ${typeName(type)}`])],
  },
  { name: 'assetId', label: 'Asset', placeholder: 'Id or NATIVE' },
  { name: 'amountFrom', label: 'Amount from', hint: 'in the smallest units; needs type and asset' },
  { name: 'amountTo', label: 'Amount to', hint: 'in the smallest units; needs type and asset' },
  { name: 'dateFrom', label: 'From day', type: 'date' },
  { name: 'dateTo', label: 'To day', type: 'date' },
  { name: 'sender', label: 'Sender' },
  { name: 'recipient', label: 'Participant' },
  {
    name: 'sort',
    label: 'Order',
    options: [
      ['', 'Newest first'],
      ['asc', 'Oldest first'],
    ],
  },
];

export async function searchPage({ signal, query }) {
  const form = filterForm(query);
  const content = [heading('Search'), form];
  const title = query.get('search') ? `Search: ${query.get('search')}` : 'Search';
  try {
    content.push(await results(query, signal));
  } catch (error) {
    if (!(error instanceof WrongParameters)) throw error;
    showProblems(form, error.problems);
  }
  return { title, content };
}

async function results(query, signal) {
  const filters = new URLSearchParams(query);
  filters.delete('index');
  const page = new URLSearchParams(query);
  page.set('limit', String(ROWS));
  page.set('extended', 'true');
  const found = await ask('transactions', page, signal);
  const { value, next, height } = found;
  const count = h('span', { role: 'status' }, 'counting…');
  const counted = new URLSearchParams(filters);
  counted.set('countTo', String(COUNT_TO));
  // The server ends a count that nobody waits for.
  const soon = AbortSignal.any([signal, AbortSignal.timeout(COUNT_MS)]);
  ask('transactions/count', counted, soon).then(
    ({ value: { count: number } }) =>
      count.replaceChildren(
        Number(number) > COUNT_TO
          ? `more than ${plural(COUNT_TO, 'transaction')}`
          : plural(number, 'transaction'),
      ),
    () => count.replaceChildren('too many to count'),
  );
  return h(
    'section',
    { 'aria-label': 'Results' },
    h(
      'p',
      { className: 'tools' },
      count,
      height === undefined ? undefined : ` up to block ${height}`,
      downloadButton('CSV', filters),
      downloadButton('NDJSON', filters),
    ),
    txTable('Transactions found', value.map(asOfNode), COLUMNS, emptyNote(next)),
    pages(query, found),
  );
}

/** The node leaves out what a genesis transaction does not have. */
const asOfNode = ({ sender, ...tx }) => (sender === '' ? tx : { ...tx, sender });

function pages(query, found) {
  const to = (index) => {
    const target = new URLSearchParams(query);
    if (index === undefined) target.delete('index');
    else target.set('index', index);
    return `#/search?${target}`;
  };
  return h(
    'p',
    { className: 'pager' },
    query.has('index') ? link(to(undefined), 'First page') : undefined,
    ' ',
    nextLink(found, to),
  );
}

function downloadButton(kind, filters) {
  const button = h('button', { type: 'button' }, kind);
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      await download(kind, filters, (rows) => {
        button.textContent = `${kind} ${rows}`;
      });
    } catch (error) {
      button.title = error.message;
    }
    button.textContent = kind;
    button.disabled = false;
  });
  return button;
}

function filterForm(query) {
  const form = h(
    'form',
    { className: 'filters', 'aria-label': 'Filters' },
    fields.map((field) => filterField(field, query.get(field.name) ?? '')),
    h('button', {}, 'Search'),
    ' ',
    link('#/search', 'Clear'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const target = new URLSearchParams();
    for (const { name } of fields) {
      const value = form.elements[name].value.trim();
      if (value !== '') target.set(name, value);
    }
    const address = target.size === 0 ? '#/search' : `#/search?${target}`;
    if (location.hash === address) window.dispatchEvent(new HashChangeEvent('hashchange'));
    else location.hash = address;
  });
  return form;
}

function filterField({ name, label, type = 'text', options, placeholder, hint }, value) {
  const id = `filter-${name}`;
  const input =
    options === undefined
      ? h('input', { id, name, type, value, placeholder, title: hint, autocomplete: 'off' })
      : h(
          'select',
          { id, name },
          options.map(([key, text]) => h('option', { value: key, selected: key === value }, text)),
        );
  return h('div', { className: 'filter' }, h('label', { for: id }, label), input);
}

function showProblems(form, problems) {
  for (const [name, problem] of Object.entries(problems)) {
    const input = form.elements[name];
    const note = h('p', { className: 'bad', role: 'alert', id: `problem-${name}` }, problem);
    if (input === undefined)
      form.append(h('p', { className: 'bad', role: 'alert' }, `${name}: ${problem}`));
    else {
      input.setAttribute('aria-invalid', 'true');
      input.setAttribute('aria-describedby', note.id);
      input.after(note);
    }
  }
}
