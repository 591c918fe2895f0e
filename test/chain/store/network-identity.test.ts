/** A store is opened only by a release and for a network whose blocks it holds. */
import t from 'tap';
import { blockId } from '../../../src/block/block.ts';
import { requireSameNetwork, SCHEMA_VERSION } from '../../../src/chain/store/network-identity.ts';
import { createOverlay } from '../../../src/ledger/overlay.ts';
import { meta } from '../../../src/ledger/tables.ts';
import { genesis, newChain } from '../chain-harness.ts';

t.test('a store of another release or network is refused', async (t) => {
  const { blockchain } = await newChain();
  const id = blockId(genesis);
  requireSameNetwork(blockchain.view, id);
  const refused = (row: string, value: Uint8Array | undefined, message: RegExp): void => {
    const changed = createOverlay(blockchain.view);
    if (value === undefined) changed.remove(meta, row);
    else changed.set(meta, row, value);
    t.throws(() => requireSameNetwork(changed, id), { message }, `${row} = ${value}`);
  };
  const later = SCHEMA_VERSION + 1;
  refused('schema-version', Uint8Array.of(later), /has schema version 2, this release reads 1/);
  refused('schema-version', undefined, /has schema version undefined/);
  refused('genesis-id', id.slice().fill(7), /Mismatched genesis blocks/);
  refused('genesis-id', undefined, /Mismatched genesis blocks/);
});
