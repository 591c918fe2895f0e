/** The network of the store: the one whose first block it has (data-service.md#crawler). */
import type { Database, Queries } from '../../base/ports/database.ts';
import { readMeta, writeMeta } from '../schema/migrate.ts';
import { NodeAway, type NodeReader } from './node-reader.ts';

/** The node belongs to another network than the stored chain. */
export class OtherNetwork extends Error {
  override name = 'OtherNetwork';

  constructor(shown: string, stored: string) {
    super(
      `the node belongs to a different network: its first block is ${shown}, the stored one ` +
        `${stored}. Set node-url to a node of that network, or use another database`,
    );
  }
}

const GENESIS = 'genesis_signature';
const CHAIN_ID = 'chain_id';
const NODE_VERSION = 'node_version';

/** Throws OtherNetwork; NodeAway where the node shows no first block. */
export async function assertNetwork(db: Queries, node: NodeReader): Promise<void> {
  const stored = await readMeta(db, GENESIS);
  const shown = await genesisOf(node);
  if (stored !== undefined && stored !== shown) throw new OtherNetwork(shown, stored);
}

/** The network of the first node is that of the store; the version of each is remembered. */
export async function rememberNetwork(db: Database, node: NodeReader): Promise<void> {
  const { chainId, version } = await node.network();
  const [genesis, chain, known] = [
    await readMeta(db, GENESIS),
    await readMeta(db, CHAIN_ID),
    await readMeta(db, NODE_VERSION),
  ];
  if (genesis !== undefined && chain !== undefined && chain !== '' && known === version) return;
  const shown = genesis ?? (await genesisOf(node));
  await db.transaction(async (queries) => {
    await writeMeta(queries, GENESIS, shown);
    await writeMeta(queries, CHAIN_ID, chain === undefined || chain === '' ? chainId : chain);
    await writeMeta(queries, NODE_VERSION, version);
  });
}

async function genesisOf(node: NodeReader): Promise<string> {
  const signature = await node.signatureAt(1);
  if (signature === undefined) throw new NodeAway('the node shows no first block');
  return signature;
}
