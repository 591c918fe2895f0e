/** Every endpoint of the node, in the order of the reference. */
import type { AnyRoute } from '../route.ts';
import { activation, leasing } from './activation.ts';
import { addresses } from './addresses.ts';
import { alias } from './alias.ts';
import { assets } from './assets.ts';
import { blocks } from './blocks.ts';
import { consensus } from './consensus.ts';
import { contracts } from './contracts.ts';
import { crypto } from './crypto.ts';
import { node } from './node.ts';
import { peers } from './peers.ts';
import { permissions } from './permissions.ts';
import { privacy } from './privacy.ts';
import { transactions } from './transactions.ts';
import { utils } from './utils.ts';

export const routes: readonly AnyRoute[] = [
  ...transactions,
  ...addresses,
  ...alias,
  ...contracts,
  ...privacy,
  ...peers,
  ...assets,
  ...blocks,
  ...utils,
  ...consensus,
  ...node,
  ...crypto,
  ...permissions,
  ...activation,
  ...leasing,
];
