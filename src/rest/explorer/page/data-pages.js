/** The pages that need an index: search, users, assets, charts. */

import { chartsPage } from './data-charts.js';
import { assetsPage, holdersPage, usersPage } from './data-lists.js';
import { searchPage } from './data-search.js';
import { link } from './dom.js';

export const pages = {
  search: searchPage,
  users: usersPage,
  assets: assetsPage,
  holders: holdersPage,
  charts: chartsPage,
};

const MENU = [
  ['search', 'Search'],
  ['users', 'Users'],
  ['assets', 'Assets'],
  ['charts', 'Charts'],
];

export function addToMenu() {
  const menu = document.querySelector('nav');
  const last = menu.querySelector('a:last-child');
  for (const [name, text] of MENU) last.before(link(`#/${name}`, text));
  const field = document.querySelector('#search input');
  field.placeholder = 'Text, amount, id, address, alias, key, value, height';
}

/** A height is a block at once; everything else is searched for. */
export function searchTarget(text) {
  const trimmed = text.trim();
  if (/^\d{1,9}$/.test(trimmed)) return undefined;
  return `#/search?${new URLSearchParams({ search: trimmed })}`;
}
