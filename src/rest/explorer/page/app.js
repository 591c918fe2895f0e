/**
 * The explorer. It shows the page that the URL names after `#`, and updates it as the chain grows.
 * It only reads, and only from the node that serves it.
 */
import { addressPage, aliasPage, assetPage, find, networkPage } from './accounts.js';
import { blockPage, blocksPage, intervalOf, overview, poolPage, txPage } from './chain.js';
import { contractPage, contractsPage } from './contracts.js';
import { h, heading, link, refreshAges } from './dom.js';
import { config, get } from './rest.js';

const pages = {
  '': overview,
  blocks: blocksPage,
  block: blockPage,
  tx: txPage,
  address: addressPage,
  alias: aliasPage,
  asset: assetPage,
  contract: contractPage,
  contracts: contractsPage,
  pool: poolPage,
  network: networkPage,
};

/** A data service that serves this page adds pages of its own. */
const isSearchable = document.body.dataset.node !== undefined;
const extended = isSearchable
  ? import('./data-pages.js').then((found) => {
      Object.assign(pages, found.pages);
      found.addToMenu();
      return found;
    })
  : undefined;

const main = document.getElementById('main');
const live = document.getElementById('live');
const search = document.getElementById('search');
const POLL_MS_MIN = 1000;
const POLL_MS_MAX = 5000;
const AGE_MS = 1000;

let running = new AbortController();
let listener;

async function show(isReload = false) {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  listener = undefined;
  const [where, query = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [name = '', argument = ''] = where.split('/').map(decodeURIComponent);
  markPage(name);
  main.setAttribute('aria-busy', 'true');
  if (!isReload) main.replaceChildren(h('p', { className: 'note' }, 'Loading…'));
  try {
    await extended;
    const page = pages[name];
    if (page === undefined) throw new Error('There is no such page.');
    const onBlock = (action) => {
      listener = action;
    };
    const result = await page({
      signal,
      argument,
      query: new URLSearchParams(query),
      onBlock,
      reload: () => show(true),
    });
    if (signal.aborted) return;
    if (result.redirect !== undefined) {
      location.replace(result.redirect);
      return;
    }
    document.title = `${result.title} · platform-node`;
    main.replaceChildren(...result.content.flat().filter(Boolean));
  } catch (error) {
    if (signal.aborted) return;
    listener = undefined;
    fail(error);
  }
  main.removeAttribute('aria-busy');
  if (isReload) return;
  window.scrollTo(0, 0);
  // The next Tab and a screen reader then begin at the new page.
  if (location.hash !== '') main.querySelector('h1')?.focus({ preventScroll: true });
}

function fail(error) {
  document.title = 'Not found · platform-node';
  const again = h('button', { type: 'button' }, 'Try again');
  again.addEventListener('click', () => show());
  main.replaceChildren(
    heading(error.status === 404 ? 'Not found' : 'The request failed'),
    h('p', { className: 'bad', role: 'alert' }, error.message),
    h('p', {}, again, ' ', link('#/', 'Overview')),
  );
}

function markPage(name) {
  for (const item of document.querySelectorAll('nav a')) {
    const own = item.getAttribute('href') === `#/${name}`;
    if (own) item.setAttribute('aria-current', 'page');
    else item.removeAttribute('aria-current');
  }
}

let tip;

async function follow() {
  let waitMs = POLL_MS_MAX;
  try {
    waitMs = Math.min(POLL_MS_MAX, Math.max(POLL_MS_MIN, intervalOf(await config()) / 2));
    const last = await get('blocks/headers/last');
    setLive(true, last.height);
    const isNew = tip !== undefined && last.signature !== tip.signature;
    tip = last;
    if (isNew) await listener?.(last);
  } catch (error) {
    if (error.name !== 'AbortError') setLive(false);
  }
  setTimeout(() => (document.hidden ? whenVisible(follow) : follow()), waitMs);
}

function whenVisible(action) {
  document.addEventListener('visibilitychange', action, { once: true });
}

function setLive(isLive, height) {
  live.className = isLive ? 'on' : 'off';
  live.textContent = isLive ? `Height ${height}` : 'The node does not answer';
}

search.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { text } = search.elements;
  if (text.value.trim() === '') return;
  main.setAttribute('aria-busy', 'true');
  try {
    const target = (await extended)?.searchTarget(text.value) ?? (await find(text.value));
    text.value = '';
    text.blur();
    if (location.hash === target) show();
    else location.hash = target;
  } catch (error) {
    fail(error);
    main.removeAttribute('aria-busy');
  }
});

document.addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '');
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    search.elements.text.focus();
  }
});

window.addEventListener('hashchange', () => show());
// The link to the content must not be read as the name of a page.
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
setInterval(() => refreshAges(Date.now()), AGE_MS);
show();
follow();
config().then(
  ({ version }) => document.getElementById('about').append(`platform-node ${version}`),
  () => {},
);
