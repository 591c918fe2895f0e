/** What a manifest says of a chain. */
import { base58 } from '../../../base/base58.ts';
import { encodeHex } from '../../../base/hex.ts';
import type { Blockchain } from '../../../chain/blockchain.ts';
import { headerRowAt } from '../../../chain/store/stored-blocks.ts';
import type { BackupChain } from './manifest.ts';

export function chainFacts(blockchain: Blockchain): BackupChain {
  const { height, id } = blockchain.tip();
  return {
    genesisId: base58.encode(headerRowAt(blockchain.view, 1)!.header.signature),
    height,
    blockId: base58.encode(id),
    stateHash: encodeHex(blockchain.stateHash(height) ?? new Uint8Array(0)),
  };
}
