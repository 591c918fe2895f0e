/** Every endpoint of the node, in the order of the reference; typed ones are in their files. */
import type { AnyRoute } from '../route.ts';
import { activation, leasing } from './activation.ts';
import { addresses } from './addresses.ts';
import { alias } from './alias.ts';
import { assets } from './assets.ts';
import { blocks } from './blocks.ts';
import { consensus } from './consensus.ts';
import { contracts } from './contracts.ts';
import { crypto } from './crypto.ts';
import { health } from './health.ts';
import { node } from './node.ts';
import { peers } from './peers.ts';
import { permissions } from './permissions.ts';
import { privacy } from './privacy.ts';
import { transactions } from './transactions.ts';
import { utils } from './utils.ts';

export const routes: readonly AnyRoute[] = [
  ...Object.values(transactions),
  ...Object.values(addresses),
  ...Object.values(alias),
  ...Object.values(contracts),
  ...Object.values(privacy),
  ...Object.values(peers),
  ...Object.values(assets),
  ...Object.values(blocks),
  ...Object.values(utils),
  ...Object.values(consensus),
  ...Object.values(node),
  ...Object.values(crypto),
  ...Object.values(permissions),
  ...Object.values(activation),
  ...Object.values(leasing),
  ...Object.values(health),
];
