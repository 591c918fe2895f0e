/** How an endpoint of the node is declared: what the framework leaves to each program. */
import { routeIn } from '../rest-framework/route.ts';
import type { Scope } from './access-keys.ts';
import type { Services } from './services.ts';

/**
 * Levels of access that need a key, what the description says of them, and the scope that a key with
 * a name must have.
 */
export const keys = {
  readKey: { doc: 'Needs the API key, or one with the scope `read`.', scope: 'read' },
  signKey: {
    doc: 'Needs the API key, or one with the scope `sign` for the account.',
    scope: 'sign',
  },
  peersKey: { doc: 'Needs the API key, or one with the scope `peers`.', scope: 'peers' },
  adminKey: { doc: 'Needs the API key, or one with the scope `admin`.', scope: 'admin' },
  privacyKey: {
    doc: 'Needs the privacy API key, or one with the scope `privacy`.',
    scope: 'privacy',
  },
  /** A secret that matches either hash. */
  anyKey: {
    doc: 'Needs the API key, the privacy API key, or one with the scope `privacy`.',
    scope: 'privacy',
  },
  loopbackOrApiKey: {
    doc: 'Needs the API key, or one with the scope `admin`, unless a program of the same machine calls.',
    isOptional: true,
    scope: 'admin',
  },
  cryptoKey: {
    doc:
      'Needs the API key, or one with the scope `sign` for the account, if ' +
      '`rest-api.crypto-api-key` is on.',
    isOptional: true,
    scope: 'sign',
  },
} as const satisfies Readonly<
  Record<string, { readonly doc: string; readonly isOptional?: true; readonly scope: Scope }>
>;

/** Only on the listener for contracts, which has no keys. */
const contractToken = { doc: 'Needs the token of a running contract.' } as const;

/** What the description says of each level. */
export const levels = { ...keys, contractToken };

/** Access to a route (rest.md#api-keys-in-requests). */
export type Access = 'public' | keyof typeof levels;

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
