/** Users, assets, and the holders of an asset. */
import { emptyNote, nextLink } from './data-paging.js';
import { ask } from './data-rest.js';
import { barList } from './data-svg.js';
import { addressLink, amount, blockLink, h, heading, link, table } from './dom.js';
import { NATIVE_DECIMALS, short } from './format.js';
import { path } from './rest.js';

const ROWS = 50;

function searchForm(page, query, label) {
  const form = h(
    'form',
    { className: 'filters', 'aria-label': label },
    h(
      'div',
      { className: 'filter' },
      h('label', { for: 'list-text' }, label),
      h('input', {
        id: 'list-text',
        name: 'text',
        type: 'search',
        value: query.get('search') ?? '',
        autocomplete: 'off',
      }),
    ),
    h('button', {}, 'Search'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = form.elements.text.value.trim();
    location.hash =
      text === '' ? `#/${page}` : `#/${page}?${new URLSearchParams({ search: text })}`;
  });
  return form;
}

function pager(page, query, found) {
  const to = (index) => {
    const target = new URLSearchParams(query);
    target.set('index', index);
    return `#/${page}?${target}`;
  };
  return h('p', { className: 'pager' }, nextLink(found, to));
}

/** `more`: what stands below the list. */
const listPage =
  (page, title, label, columns, more = () => []) =>
  async ({ signal, query }) => {
    const asked = new URLSearchParams(query);
    asked.set('limit', String(ROWS));
    const found = await ask(page, asked, signal);
    return {
      title,
      content: [
        heading(title),
        searchForm(page, query, label),
        table(`${title}, the newest first`, columns, found.value, emptyNote(found.next)),
        pager(page, query, found),
        ...more(),
      ],
    };
  };

export const usersPage = listPage('users', 'Users', 'Address or alias', [
  ['Address', ({ address }) => addressLink(address)],
  ['Aliases', ({ aliases }) => aliases.join(', ')],
  ['Roles', ({ permissions }) => permissions.join(', ')],
  ['Since', ({ registration_date: since }) => h('time', { datetime: since }, since.slice(0, 10))],
  ['Balance', ({ balances }) => amount(balances[0].amount), 'number'],
]);

export const assetsPage = listPage(
  'assets',
  'Assets',
  'Name, description or id',
  [
    ['Name', ({ assetId, name }) => link(`#/asset/${assetId}`, name || short(assetId))],
    ['Description', ({ description }) => description],
    ['Issued', ({ quantity, decimals }) => amount(quantity, decimals), 'number'],
    ['Issuer', ({ sender }) => addressLink(sender)],
    ['Block', ({ height }) => blockLink(height), 'number'],
    ['Holders', ({ assetId }) => link(`#/holders/${assetId}`, 'Holders')],
  ],
  () => [h('p', {}, link('#/holders/NATIVE', 'Holders of the native coin'))],
);

const HOLDERS = 30;

export async function holdersPage({ signal, argument }) {
  const isNative = argument === 'NATIVE' || argument === '';
  const id = isNative ? 'NATIVE' : argument;
  const details = isNative
    ? { name: 'the native coin', decimals: NATIVE_DECIMALS }
    : (await ask(path`assets/${id}`, undefined, signal)).value;
  const { value } = await ask(path`assets/${id}/holders`, `limit=${HOLDERS}`, signal);
  const columns = [
    ['Address', ({ address }) => addressLink(address)],
    ['Amount', ({ amount: held }) => amount(held, details.decimals), 'number'],
  ];
  const title = `Holders of ${details.name || id}`;
  return {
    title,
    content: [
      heading(title),
      barList(
        'Largest holders',
        value.map(({ address, amount: held }) => ({
          label: short(address),
          value: Number(held),
          text: amount(held, details.decimals),
        })),
      ),
      table('The largest holders', columns, value),
    ],
  };
}
