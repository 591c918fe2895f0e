/** All groups of endpoints. One line adds the endpoints of a file to the interface. */
export { activation, leasing } from './activation.ts';
export { addresses } from './addresses.ts';
export { alias } from './alias.ts';
export { assets } from './assets.ts';
export { blocks } from './blocks.ts';
export { consensus } from './consensus.ts';
export { contractHistory } from './contract-history.ts';
export { contracts } from './contracts.ts';
export { crypto } from './crypto.ts';
export { events } from './events.ts';
export { finality } from './finality.ts';
export { health } from './health.ts';
export { node } from './node.ts';
export { peers } from './peers.ts';
export { permissions } from './permissions.ts';
export { privacy } from './privacy.ts';
export { transactions } from './transactions.ts';
export { utils } from './utils.ts';
