/** Pages of the chain: overview, blocks, one block, one transaction, the pool. */
import {
  addressLink,
  ago,
  amount,
  blockLink,
  facts,
  h,
  heading,
  link,
  moment,
  portions,
  section,
  table,
  tableRow,
} from './dom.js';
import { bytes, count, plural, short } from './format.js';
import { config, get, maybe, path, Refused } from './rest.js';
import { isExecutable, outcomeTable, txDetails, txTable, typeName } from './tx.js';

const NEWEST = 12;
const PAGE = 50;
const LIST_MAX = 100;

const blockColumns = [
  ['Height', (block) => blockLink(block.height)],
  ['Time', (block) => ago(block.timestamp)],
  ['Block', (block) => blockIdLink(block.signature)],
  ['Made by', (block) => addressLink(block.generator)],
  ['Transactions', (block) => count(block.transactionCount), 'number'],
  ['Fees', (block) => amount(block.fee), 'number'],
  ['Size', (block) => bytes(block.blocksize), 'number'],
];

const blockIdLink = (id) => link(`#/block/${id}`, short(id), { className: 'id', title: id });

const headers = async (from, to, signal) => {
  const list = await get(path`blocks/headers/seq/${Math.max(1, from)}/${to}`, signal);
  return list.sort((a, b) => b.height - a.height);
};

/** What is final; undefined where nobody votes on blocks. */
async function finality(signal) {
  const state = await maybe(get('finality', signal), undefined);
  return state?.isActive ? state : undefined;
}

const isFinal = (state, height) => state !== undefined && height <= state.finalHeight;

const finalBadge = () =>
  h('span', { className: 'badge', title: 'It is never taken back.' }, 'final');

const voterItem = ({ address, votedHeight }, finalHeight) =>
  h(
    'li',
    {},
    addressLink(address, true),
    h('small', {}, votedHeight > finalHeight ? `voted for ${count(votedHeight)}` : 'no vote'),
  );

const tile = (label, ...value) =>
  h('div', { className: 'tile' }, h('dt', {}, label), h('dd', {}, ...value));

const finalTile = ({ finalHeight, waits }, tip) =>
  tile(
    'Final block',
    finalHeight > 0 ? blockLink(finalHeight) : 'none',
    h('small', {}, waits ? 'waits for votes' : `${count(tip.height - finalHeight)} below the last`),
  );

/** Milliseconds until the next block is expected. */
export const intervalOf = ({ blockTiming: timing }) =>
  timing.averageBlockDelay ?? timing.roundDuration + timing.syncDuration;

export const consensusOf = ({ consensus }) => (consensus === 'POA' ? 'PoA' : 'PoS');

export async function overview({ signal, onBlock }) {
  const [settings, last] = await Promise.all([config(), get('blocks/headers/last', signal)]);
  const blocks = await headers(last.height - NEWEST + 1, last.height, signal);
  const tiles = h('dl', { className: 'tiles' });
  const list = h('div', {}, table('The newest blocks', blockColumns, blocks));
  const miners = h('div', {});
  const voters = h('div', {});

  async function readTiles(tip) {
    const [pool, peers, final] = await Promise.all([
      get('transactions/unconfirmed/size', signal),
      maybe(get('peers/connected', signal), { peers: [] }),
      finality(signal),
    ]);
    showVoters(final);
    const inBytes = bytes(Number(pool.sizeInBytes));
    const shown = [
      tile('Height', blockLink(tip.height)),
      tile('Last block', ago(tip.timestamp)),
      final && finalTile(final, tip),
      tile(
        'In the pool',
        link('#/pool', count(pool.size)),
        h('small', {}, `transactions, ${inBytes}`),
      ),
      tile(
        'Consensus',
        consensusOf(settings),
        h('small', {}, `a block every ${intervalOf(settings) / 1000} s`),
      ),
      tile('Network', settings.chainId, h('small', {}, `version ${settings.version}`)),
      tile('Peers', link('#/network', count(peers.peers.length))),
    ];
    tiles.replaceChildren(...shown.filter(Boolean));
  }

  function showVoters(final) {
    if (final === undefined) return;
    const all = [...final.voters, ...final.next].map((one) => [one.address, one]);
    const items = [...new Map(all).values()].map((one) => voterItem(one, final.finalHeight));
    voters.replaceChildren(section('Voters', h('ul', { className: 'queue' }, items)));
  }

  async function readMiners(tip) {
    if (settings.consensus !== 'POA') return;
    const [queue, banned] = await Promise.all([
      get(path`consensus/minersAtHeight/${tip.height}`, signal),
      maybe(get(path`consensus/bannedMiners/${tip.height}`, signal), { bannedMiners: [] }),
    ]);
    const items = queue.miners.map((address) => {
      const marks = [
        address === tip.generator && 'made the last block',
        banned.bannedMiners.includes(address) && 'banned',
      ].filter(Boolean);
      const note = marks.length > 0 && h('small', {}, marks.join(', '));
      return h('li', {}, addressLink(address, true), note);
    });
    miners.replaceChildren(section('Queue of miners', h('ol', { className: 'queue' }, items)));
  }

  onBlock(async (tip) => {
    const shown = blocks[0];
    const from = tip.reference === shown.signature ? tip.height : tip.height - NEWEST + 1;
    const fresh = from === tip.height ? [tip] : await headers(from, tip.height, signal);
    if (from !== tip.height) blocks.length = 0;
    blocks.unshift(...fresh);
    blocks.length = Math.min(blocks.length, NEWEST);
    const body = list.querySelector('tbody');
    body.replaceChildren(...blocks.map((block) => tableRow(blockColumns, block)));
    body.firstElementChild.classList.add('fresh');
    await Promise.all([readTiles(tip), readMiners(tip)]);
  });
  await Promise.all([readTiles(last), readMiners(last)]);
  return {
    title: 'Overview',
    content: [
      h('h1', { className: 'unseen', tabindex: '-1' }, 'Overview of the chain'),
      tiles,
      section('Newest blocks', list, link('#/blocks', 'All blocks')),
      miners,
      voters,
    ],
  };
}

export async function blocksPage({ signal, argument }) {
  const { height } = await get('blocks/height', signal);
  const top = Math.min(Number(argument) || height, height);
  const [blocks, final] = await Promise.all([
    headers(top - PAGE + 1, top, signal),
    finality(signal),
  ]);
  const mark = ['Final', ({ height: at }) => isFinal(final, at) && finalBadge()];
  const columns = final === undefined ? blockColumns : [...blockColumns, mark];
  return {
    title: 'Blocks',
    content: [
      heading('Blocks'),
      table(`Blocks from ${top} down`, columns, blocks),
      pager(
        top < height && link(`#/blocks/${Math.min(height, top + PAGE)}`, '← Newer'),
        top > PAGE && link(`#/blocks/${top - PAGE}`, 'Older →'),
      ),
    ],
  };
}

export const pager = (before, after) =>
  h('nav', { className: 'pager', 'aria-label': 'More' }, before || h('span'), after || h('span'));

export async function blockPage({ signal, argument }) {
  const isHeight = /^\d+$/.test(argument);
  const block = await get(
    isHeight ? path`blocks/at/${argument}` : path`blocks/signature/${argument}`,
    signal,
  );
  const [{ height }, final] = await Promise.all([get('blocks/height', signal), finality(signal)]);
  const poa = block['poa-consensus'];
  const at = block.height;
  return {
    title: `Block ${at}`,
    content: [
      heading(`Block ${count(at)}`),
      pager(
        at > 1 && link(`#/block/${at - 1}`, `← ${at - 1}`),
        at < height && link(`#/block/${at + 1}`, `${at + 1} →`),
      ),
      facts([
        ['Id', h('span', { className: 'id' }, block.signature)],
        ['Time', [moment(block.timestamp), h('small', {}, ago(block.timestamp))]],
        ['Made by', addressLink(block.generator, true)],
        ['Parent', at > 1 && link(`#/block/${at - 1}`, block.reference, { className: 'id' })],
        ['Transactions', count(block.transactionCount)],
        ['Fees', amount(block.fee)],
        ['Size', `${count(block.blocksize)} bytes`],
        ['Version', String(block.version)],
        ['Skipped rounds', poa && String(poa['overall-skipped-rounds'])],
        ['Base target', !poa && count(block.coreconsensus.basetarget)],
        ['Votes for features', block.features?.join(', ') || undefined],
        ['Confirmations', count(height - at)],
        ['Final', final && (isFinal(final, at) ? finalBadge() : 'not yet')],
      ]),
      section(
        'Transactions',
        portions(block.transactions, (txs) =>
          txTable(
            `Transactions of block ${at}`,
            txs,
            ['id', 'type', 'sender', 'what', 'fee'],
            'This block has no transactions.',
          ),
        ),
      ),
    ],
  };
}

export async function txPage({ signal, argument, onBlock, reload }) {
  const found = await maybe(get(path`transactions/info/${argument}`, signal), undefined);
  const tx = found ?? (await maybe(get(path`transactions/unconfirmed/info/${argument}`, signal)));
  if (tx === undefined) return executedOrFailed(argument, signal, () => onBlock(reload));
  // The transaction may be in the next block.
  if (found === undefined) onBlock(reload);
  const outcomes = await outcomesOf(tx, signal);
  const [{ height }, final] = await Promise.all([get('blocks/height', signal), finality(signal)]);
  const confirmations = h('small', {}, plural(height - tx.height, 'confirmation'));
  const where = found
    ? [
        'Block ',
        blockLink(tx.height),
        confirmations,
        ' ',
        isFinal(final, tx.height) && finalBadge(),
      ]
    : [h('span', { className: 'badge' }, 'in the pool'), ' waits for a block'];
  return {
    title: `${typeName(tx.type)} ${short(tx.id)}`,
    content: [heading(typeName(tx.type)), h('p', {}, where), outcomes, ...txDetails(tx)],
  };
}

/** A contract transaction is on the chain inside its result, and nowhere if it failed. */
async function executedOrFailed(id, signal, follow) {
  const executed = await maybe(get(path`contracts/executed-tx-for/${id}`, signal), undefined);
  if (executed !== undefined) return { redirect: `#/tx/${executed.id}` };
  const outcomes = await maybe(get(path`contracts/status/${id}`, signal), []);
  if (outcomes.length === 0) {
    throw new Refused(404, `Neither the chain nor the pool has the transaction ${id}.`);
  }
  follow();
  return {
    title: `Contract transaction ${short(id)}`,
    content: [
      heading('Contract transaction'),
      h('p', { className: 'id lead' }, id),
      h('p', {}, 'Neither the chain nor the pool has this transaction.'),
      section('Outcome', outcomeTable(outcomes)),
    ],
  };
}

/** What miners say of a contract transaction. */
async function outcomesOf(tx, signal) {
  if (tx.tx === undefined && !isExecutable(tx)) return undefined;
  const outcomes = await maybe(get(path`contracts/status/${(tx.tx ?? tx).id}`, signal), []);
  return outcomes.length > 0 && section('Outcome', outcomeTable(outcomes));
}

export async function poolPage({ signal, onBlock, reload }) {
  const size = await get('transactions/unconfirmed/size', signal);
  const txs = size.size === 0 ? [] : await get('transactions/unconfirmed', signal);
  onBlock(reload);
  const more = txs.length > LIST_MAX && h('p', { className: 'note' }, `The first ${LIST_MAX}.`);
  return {
    title: 'Pool',
    content: [
      heading('Pool'),
      h('p', {}, `${plural(txs.length, 'transaction')} wait for a block.`),
      txTable(
        'Unconfirmed transactions',
        txs.slice(0, LIST_MAX),
        ['id', 'type', 'time', 'sender', 'what', 'fee'],
        'The pool is empty.',
      ),
      more,
    ],
  };
}
