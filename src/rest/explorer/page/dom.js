/** Elements of the pages. Data from the chain always become text, never markup. */
import { age, amountParts, dateTime, isoTime, NATIVE_DECIMALS, short } from './format.js';
import { asset } from './rest.js';

export function h(name, properties, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key === 'className' ? 'class' : key, value === true ? '' : value);
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== false));
  return node;
}

export const link = (href, text, properties) => h('a', { href, ...properties }, text);

const idLink = (kind, id, whole, text) =>
  link(`#/${kind}/${encodeURIComponent(id)}`, text ?? (whole ? id : short(id)), {
    className: text === undefined ? 'id' : undefined,
    title: whole ? undefined : id,
  });

export const addressLink = (id, whole = false) => idLink('address', id, whole);
export const txLink = (id, whole = false, text = undefined) => idLink('tx', id, whole, text);
export const contractLink = (id, whole = false) => idLink('contract', id, whole);
export const blockLink = (height) => link(`#/block/${height}`, String(height));

/** A link to the page of an address, or of an alias's address. */
export const partyLink = (party, whole = false) =>
  party.startsWith('alias:')
    ? link(`#/alias/${encodeURIComponent(party.split(':').pop())}`, party, { className: 'id' })
    : addressLink(party, whole);

/** A link that shows the name of the asset once it is known. */
export function assetLink(id) {
  const node = link(`#/asset/${id}`, short(id), { title: id });
  asset(id).then(
    (found) => found && node.replaceChildren(found.name),
    () => {},
  );
  return node;
}

export function amount(units, decimals = NATIVE_DECIMALS) {
  const [whole, fraction] = amountParts(units, decimals);
  const value = fraction.replace(/0+$/, '').replace(/^\.$/, '');
  const zeros = fraction.slice(value.length);
  return h('span', { className: 'amount' }, whole, value, h('span', { className: 'zeros' }, zeros));
}

/** An amount of an asset, or of the native token where no id is given. */
export function amountOf(units, assetId) {
  if (!assetId) return amount(units);
  const node = h('span', { className: 'amount' }, '…');
  asset(assetId).then(
    (found) =>
      node.replaceChildren(
        amount(units, found?.decimals ?? 0),
        ' ',
        found === undefined ? short(assetId) : assetLink(assetId),
      ),
    () => node.replaceChildren(String(units)),
  );
  return node;
}

export const moment = (ms) =>
  h('time', { datetime: isoTime(ms), title: isoTime(ms) }, dateTime(ms));

/** The time since a moment; `refreshAges` updates it. */
export const ago = (ms) =>
  h('time', { datetime: isoTime(ms), title: dateTime(ms), 'data-ms': String(ms) }, age(ms));

export function refreshAges(now) {
  for (const node of document.querySelectorAll('time[data-ms]')) {
    node.textContent = age(node.dataset.ms, now);
  }
}

/** A table that becomes a list of cards on a narrow screen. */
export function table(caption, columns, rows, empty = 'Nothing here.') {
  if (rows.length === 0) return h('p', { className: 'note' }, empty);
  return h(
    'div',
    { className: 'scroll' },
    h(
      'table',
      {},
      h('caption', {}, caption),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          columns.map(([label, , kind]) => h('th', { scope: 'col', className: kind }, label)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((row) => tableRow(columns, row)),
      ),
    ),
  );
}

export const tableRow = (columns, row) =>
  h(
    'tr',
    {},
    columns.map(([label, cell, kind]) =>
      h('td', { 'data-label': label, className: kind }, cell(row)),
    ),
  );

/** Names and values; names without a value are left out. */
export const facts = (pairs) =>
  h(
    'dl',
    { className: 'facts' },
    pairs.flatMap(([name, value]) =>
      value === undefined || value === null || value === false
        ? []
        : [h('dt', {}, name), h('dd', {}, value)],
    ),
  );

export const section = (title, ...children) => h('section', {}, h('h2', {}, title), ...children);

/** Rows in portions, because a page with thousands of rows takes seconds to draw. */
export function portions(rows, draw, size = 100) {
  const holder = h('div', {}, draw(rows.slice(0, size)));
  if (rows.length <= size) return holder;
  let shown = size;
  const more = h('button', { type: 'button' }, 'Show more');
  more.addEventListener('click', () => {
    shown += size;
    holder.replaceChildren(draw(rows.slice(0, shown)));
    if (shown < rows.length) holder.append(more);
    more.focus();
  });
  holder.append(more);
  return holder;
}

export const heading = (text, ...more) => h('h1', { tabindex: '-1' }, text, ...more);
