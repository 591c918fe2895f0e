/** How an endpoint of the node is declared: what the framework leaves to each program. */
import { routeIn } from '../rest-framework/route.ts';
import type { Services } from './services.ts';

/** Levels of access that need a key, and what the description says of them. */
export const keys = {
  apiKey: { doc: 'Needs the API key.' },
  privacyKey: { doc: 'Needs the privacy API key.' },
  /** A secret that matches either hash. */
  anyKey: { doc: 'Needs the API key or the privacy API key.' },
  loopbackOrApiKey: {
    doc: 'Needs the API key, unless a program of the same machine calls.',
    isOptional: true,
  },
  cryptoKey: {
    doc: 'Needs the API key if `rest-api.crypto-api-key` is on.',
    isOptional: true,
  },
  /** Only on the listener for contracts. */
  contractToken: { doc: 'Needs the token of a running contract.' },
} as const;

/** Access to a route (rest.md#api-keys-in-requests). */
export type Access = 'public' | keyof typeof keys;

export const groups = {
  activation: 'Features of the protocol.',
  addresses: 'Accounts, their balances and data.',
  alias: 'Names of accounts.',
  assets: 'Tokens that accounts have issued.',
  blocks: 'Blocks and headers.',
  consensus: 'Whose turn it is to make blocks.',
  contracts: 'Contracts and their state.',
  crypto: 'Texts encrypted between accounts.',
  events: 'What happens, told as it happens.',
  health: 'Whether the node works well.',
  leasing: 'Leases in force.',
  node: 'The node itself.',
  peers: 'Other nodes.',
  permissions: 'Roles of accounts.',
  privacy: 'Confidential data of policies.',
  transactions: 'Transactions, signed, sent and found.',
  utils: 'Hashes, time and other tools.',
} as const;

/** `routesIn('blocks')` declares a route of that group. */
export const routesIn = routeIn<Services, Access, keyof typeof groups>();
