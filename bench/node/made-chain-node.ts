/**
 * A node with a made chain, in a process of its own as nodes are: its blocks are printed before it
 * sends its URL to the parent process. Argument: transactions of the chain.
 */
import { madeNode } from '../../test/data-service/made-node.ts';
import { keptChain } from '../chain/made-chains.ts';

const chain = keptChain(Number(process.argv[2]));
const node = await madeNode({ teardown: () => {} }, () => chain);
process.send?.(node.url);
process.once('disconnect', () => process.exit());
