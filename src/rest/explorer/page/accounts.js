/** Pages of accounts and assets, and of the participants of the network. */

import { consensusOf, intervalOf } from './chain.js';
import {
  addressLink,
  ago,
  amount,
  amountOf,
  assetLink,
  facts,
  h,
  heading,
  link,
  moment,
  partyLink,
  portions,
  section,
  table,
  txLink,
} from './dom.js';
import { amountParts, count, short } from './format.js';
import { config, get, maybe, path, post, Refused } from './rest.js';
import { entryTable, txTable, typeName } from './tx.js';

const TXS = 25;
const DATA = 50;

const roleText = ({ role, dueTimestamp }) =>
  h(
    'span',
    { className: 'badge' },
    role,
    dueTimestamp !== undefined && h('small', {}, 'until ', moment(dueTimestamp)),
  );

const roleList = (roles) =>
  roles.length === 0 ? 'none' : h('span', { className: 'badges' }, roles.map(roleText));

export async function addressPage({ signal, argument }) {
  const [balances, held, roles, aliases, leases, script] = await Promise.all([
    get(path`addresses/balance/details/${argument}`, signal),
    get(path`assets/balance/${argument}`, signal),
    get(path`permissions/${argument}`, signal),
    get(path`alias/by-address/${argument}`, signal),
    get(path`leasing/active/${argument}`, signal),
    get(path`addresses/scriptInfo/${argument}`, signal),
  ]);
  const own = Array.isArray(balances) ? balances[0] : balances;
  const aliasLinks = aliases.map((one) => h('span', { className: 'badge' }, one.split(':').pop()));
  return {
    title: `Address ${short(argument)}`,
    content: [
      heading('Address'),
      h('p', { className: 'id lead' }, argument),
      facts([
        ['Balance', amount(own.regular)],
        ['Available', amount(own.available)],
        ['Effective', amount(own.effective)],
        ['Generating', amount(own.generating)],
        ['Roles', roleList(roles.roles)],
        ['Aliases', aliases.length > 0 && h('span', { className: 'badges' }, aliasLinks)],
      ]),
      script.scriptText !== undefined && scriptSection(script),
      held.balances.length > 0 && section('Assets', assetTable(held.balances)),
      leases.length > 0 && section('Leases in force', leaseTable(leases, argument)),
      await dataSection(argument, signal),
      section('Transactions', await txList(argument, signal)),
    ],
  };
}

/** The text form; its complexity says what a run costs. */
const scriptSection = ({ scriptText, complexity, extraFee }) =>
  section(
    'Script',
    h('pre', { className: 'text' }, scriptText),
    facts([
      ['Complexity', count(complexity)],
      ['Extra fee', amount(extraFee)],
    ]),
  );

const assetTable = (balances) =>
  portions(balances, (some) =>
    table(
      'Assets',
      [
        ['Asset', ({ assetId }) => assetLink(assetId)],
        ['Id', ({ assetId }) => link(`#/asset/${assetId}`, short(assetId), { className: 'id' })],
        ['Balance', ({ assetId, balance }) => amountOf(balance, assetId), 'number'],
      ],
      some,
    ),
  );

const leaseTable = (leases, address) =>
  table(
    'Leases',
    [
      ['Lease', (lease) => txLink(lease.id)],
      ['Direction', (lease) => (lease.sender === address ? 'given' : 'received')],
      ['From', (lease) => addressLink(lease.sender)],
      ['To', (lease) => partyLink(lease.recipient)],
      ['Amount', (lease) => amount(lease.amount), 'number'],
    ],
    leases,
  );

/** A list that grows by a button, page by page. */
export async function growing(ask, draw) {
  const all = [];
  const holder = h('div', {});
  const button = h('button', { type: 'button' }, 'Show more');
  async function grow() {
    button.disabled = true;
    try {
      const { items, more } = await ask(all);
      all.push(...items);
      holder.replaceChildren(draw(all), ...(more ? [button] : []));
    } finally {
      button.disabled = false;
    }
  }
  button.addEventListener('click', () =>
    grow().catch((error) => holder.append(h('p', { className: 'bad' }, error.message))),
  );
  await grow();
  return { holder, all };
}

async function dataSection(address, signal) {
  const { holder, all } = await growing(
    async (before) => {
      const where = path`addresses/data/${address}`;
      const items = await get(`${where}?offset=${before.length}&limit=${DATA}`, signal);
      return { items, more: items.length === DATA };
    },
    (entries) => entryTable('Data', entries),
  );
  return all.length > 0 && section('Data', holder);
}

async function txList(address, signal) {
  const { holder } = await growing(
    async (before) => {
      const after = before.length === 0 ? '' : `?after=${before.at(-1).id}`;
      const where = path`transactions/address/${address}/limit/${TXS}`;
      const [items] = await get(where + after, signal);
      return { items, more: items.length === TXS };
    },
    (txs) =>
      txTable(
        'Newest first',
        txs,
        ['id', 'type', 'height', 'time', 'sender', 'what', 'fee'],
        'No transaction involves this address.',
      ),
  );
  return holder;
}

export async function aliasPage({ signal, argument }) {
  const { address } = await get(path`alias/by-alias/${argument}`, signal);
  return { redirect: `#/address/${address}` };
}

export async function assetPage({ signal, argument }) {
  const asset = await get(path`assets/details/${argument}`, signal);
  const holders = h('div', {});
  const button = h('button', { type: 'button' }, 'Show holders');
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      holders.replaceChildren(holderTable(await get(path`assets/${argument}/distribution`), asset));
    } catch (error) {
      holders.replaceChildren(h('p', { className: 'bad' }, error.message), button);
      button.disabled = false;
    }
  });
  holders.append(button);
  const [whole, fraction] = amountParts(asset.quantity, asset.decimals);
  return {
    title: `Asset ${asset.name}`,
    content: [
      heading(asset.name),
      asset.description !== '' && h('p', { className: 'text' }, asset.description),
      facts([
        ['Id', h('span', { className: 'id' }, asset.assetId)],
        ['Quantity', h('span', { className: 'amount' }, whole + fraction)],
        ['Decimals', String(asset.decimals)],
        ['Reissuable', asset.reissuable ? 'yes' : 'no'],
        ['Issuer', addressLink(asset.issuer, true)],
        ['Issued', [moment(asset.issueTimestamp), h('small', {}, ago(asset.issueTimestamp))]],
        ['Issued by', txLink(asset.assetId, true)],
        [
          'Sponsored',
          asset.minSponsoredAssetFee === null
            ? 'no'
            : h('span', {}, 'minimum fee ', amount(asset.minSponsoredAssetFee, asset.decimals)),
        ],
        ['Script', asset.scripted ? 'yes' : 'no'],
      ]),
      asset.scripted && scriptSection(asset),
      section('Holders', holders),
    ],
  };
}

function holderTable(distribution, { decimals }) {
  const rows = Object.entries(distribution).sort(([, a], [, b]) =>
    BigInt(a) < BigInt(b) ? 1 : -1,
  );
  const columns = [
    ['Address', ([address]) => addressLink(address)],
    ['Amount', ([, units]) => amount(units, decimals), 'number'],
  ];
  return portions(rows, (some) => table('Holders', columns, some, 'No address holds this asset.'));
}

export async function networkPage({ signal }) {
  const [settings, { allowedNodes, timestamp }, peers, features, owner] = await Promise.all([
    config(),
    get('peers/allowedNodes', signal),
    get('peers/connected', signal),
    get('activation/status', signal),
    get('node/owner', signal),
  ]);
  const addresses = allowedNodes.map((node) => node.address);
  const { addressToRoles } =
    addresses.length === 0
      ? { addressToRoles: [] }
      : await post('permissions/addresses', { addresses, timestamp: Number(timestamp) }, signal);
  const rolesOf = new Map(addressToRoles.map(({ address, roles }) => [address, roles]));
  return {
    title: 'Network',
    content: [
      heading('Network'),
      facts([
        ['Chain', settings.chainId],
        ['Consensus', consensusOf(settings)],
        ['Time between blocks', `${intervalOf(settings) / 1000} s`],
        ['This node', addressLink(owner.address, true)],
        ['Version', settings.version],
      ]),
      section(
        'Participants',
        portions(allowedNodes, (nodes) =>
          table(
            'Registered nodes and their roles',
            [
              ['Address', (node) => addressLink(node.address)],
              ['Name', (node) => node.nodeName],
              ['Roles', (node) => roleList(rolesOf.get(node.address) ?? [])],
              ['Public key', (node) => h('span', { className: 'id' }, short(node.publicKey))],
            ],
            nodes,
            'No node is registered.',
          ),
        ),
      ),
      section('Connected nodes', peerTable(peers.peers)),
      section('Features', featureTable(features.features)),
      section('Fees', feeTable(settings)),
    ],
  };
}

const peerTable = (peers) =>
  table(
    'Connected nodes',
    [
      ['Name', (peer) => peer.peerName],
      ['Address', (peer) => peer.address],
      ['Owner', (peer) => addressLink(peer.nodeOwnerAddress)],
      ['Version', (peer) => peer.applicationVersion],
    ],
    peers,
    'This node has no connection to another node.',
  );

const featureTable = (features) =>
  table(
    'Features of the protocol',
    [
      ['Id', (feature) => String(feature.id)],
      ['Feature', (feature) => feature.description],
      ['Status', (feature) => feature.blockchainStatus.toLowerCase()],
      ['Since', (feature) => count(feature.activationHeight ?? '–')],
    ],
    features,
  );

const feeTable = ({ minimumFee }) =>
  table(
    'Least fees',
    [
      ['Transaction', ([type]) => `${typeName(type)} (${type})`],
      ['Least fee', ([, fee]) => amount(fee), 'number'],
    ],
    Object.entries(minimumFee).filter(([, fee]) => BigInt(fee) > 0n),
    'This network charges no fees.',
  );

/** The page for a searched text. */
export async function find(text, signal) {
  const word = text.trim();
  if (/^[\d\s,.]+$/.test(word)) return `#/block/${word.replace(/\D/g, '')}`;
  const known = async (where) => (await maybe(get(where, signal), undefined)) !== undefined;
  if (/^[1-9A-HJ-NP-Za-km-z]{32,}$/.test(word.replace(/^address:/, ''))) {
    const bare = word.replace(/^address:/, '');
    const { valid } = await get(path`addresses/validate/${bare}`, signal);
    if (valid) return `#/address/${bare}`;
    if (await known(path`blocks/height/${bare}`)) return `#/block/${bare}`;
    if (await known(path`assets/details/${bare}`)) return `#/asset/${bare}`;
    if (await known(path`contracts/info/${bare}`)) return `#/contract/${bare}`;
    return `#/tx/${bare}`;
  }
  const name = word.startsWith('alias:') ? word.split(':').pop() : word;
  if (await known(path`alias/by-alias/${name}`)) return `#/alias/${encodeURIComponent(name)}`;
  throw new Refused(404, `Nothing is called “${word}”.`);
}
