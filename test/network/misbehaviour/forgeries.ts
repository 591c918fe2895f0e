/** False announcements: about the block with an id, its transactions, its place or its score. */

import { compare } from '../../../src/base/bytes.ts';
import { type Block, blockId } from '../../../src/block/block.ts';
import type { Header } from '../../../src/block/header.ts';
import { headerRowAt } from '../../../src/chain/store/stored-blocks.ts';
import {
  blockProtocols,
  type CompactTx,
  encodeBlocks,
  encodeCompact,
} from '../../../src/network/messages/block-messages.ts';
import { scheme } from '../../chain/chain-harness.ts';
import { type ClusterNode, GENESIS_TIME, ROUND_MS, SYNC_MS, tipOf } from '../cluster.ts';
import { blockOn, inFull } from '../maverick.ts';
import { offence, onTurn, type Row, type Scene, spread, stranger, transferOf } from './row.ts';

const BLOCKS_BACK = 8;
const HASHES_MAX = 65_535;
/** More than the transactions of a block may have together. */
const MEBIBYTE = 1024 * 1024;

const headerAt = ({ node }: ClusterNode, height: number) =>
  headerRowAt(node.blockchain.view, height)!.header;

/** The block that the maverick may make now, in full. */
const due = (scene: Scene, amount = 1n): Block =>
  blockOn(scene.node, scene.mav, scene.now, {
    transactions: [transferOf(scene, amount).bytes],
  });

/** The block is handed out to those who ask for it. */
function serve({ mav }: Scene, { bytes }: Block): void {
  mav.answers.set(blockProtocols.blocks, async () => encodeBlocks([bytes], scheme));
}

export const aboutForgeries: readonly Row[] = [
  repeatedHash(),

  {
    name: 'a list of more bytes than a block may have',
    act: onTurn(({ node, mav, now, rng }) => {
      const { header } = blockOn(node, mav, now);
      const part = rng.bytes(MEBIBYTE / 8);
      const txs = Array.from({ length: 9 }, () => ({ bytes: part }));
      return encodeCompact({ header, txs }, scheme);
    }),
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'a list of transactions of another block',
    act: onTurn((scene) => {
      const block = due(scene);
      serve(scene, block);
      const txs = [{ bytes: transferOf(scene, 2n).bytes }];
      return encodeCompact({ header: block.header, txs }, scheme);
    }),
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'another header under the id of a good block',
    act: onTurn((scene) => {
      const block = due(scene);
      serve(scene, block);
      return inFull({ ...block, header: { ...block.header, features: [1] } });
    }),
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'a forged header that names an honest relay as the generator of a bad block',
    act(scene) {
      const { at, mav, node, nodes, isTurn } = scene;
      if (!isTurn || tipOf(node).height < 3) return;
      const [victim, relay] = nodes as readonly [ClusterNode, ClusterNode];
      const bad = due(scene, 10n ** 17n);
      // It claims to be a better block beside the tip, whose turn was not looked at.
      const forged: Header = {
        ...bad.header,
        reference: tipOf(node).header.reference,
        consensus: { kind: 'poa', skippedRounds: 0 },
        generator: relay.publicKey,
      };
      mav.answers.set(blockProtocols.blocks, async () => {
        await new Promise<void>((resolve) => void at.clock.after(100, resolve));
        return encodeBlocks([bad.bytes], scheme);
      });
      mav.session(victim)?.notify(blockProtocols.newBlock, inFull({ ...bad, header: forged }));
      mav.session(relay)?.notify(blockProtocols.newBlock, inFull(bad));
    },
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'a deep fork that claims fewer skipped rounds than there were',
    // So that one block which denies them outweighs many that do not.
    idleRounds: 2_000,
    act(scene) {
      const { mav, node } = scene;
      const { height } = tipOf(node);
      if (height <= BLOCKS_BACK) return;
      const { signature: reference, timestamp } = headerAt(node, height - BLOCKS_BACK);
      const block = blockOn(node, stranger, timestamp + ROUND_MS, {
        reference,
        consensus: { kind: 'poa', skippedRounds: 0 },
      });
      mav.notifyAll(blockProtocols.newBlock, inFull(block));
    },
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'a fork by somebody without the role',
    act(scene) {
      const { mav, node } = scene;
      const { header } = tipOf(node);
      for (let i = 1n; i < 20n; i++) {
        const block = blockOn(node, stranger, header.timestamp, {
          reference: header.reference,
          consensus: header.consensus,
          transactions: [transferOf(scene, i).bytes],
        });
        if (tipOf(node).height < 2 || compare(blockId(block), header.signature) >= 0) continue;
        mav.notifyAll(blockProtocols.newBlock, inFull(block));
        return;
      }
    },
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'a second block of its turn, made in the pause after it',
    act(scene) {
      const { mav, node, now, isTurn } = scene;
      if (!isTurn) return;
      const first = due(scene);
      const pause = now - ((now - GENESIS_TIME) % ROUND_MS) + ROUND_MS - SYNC_MS;
      mav.notifyAll(blockProtocols.newBlock, inFull(first));
      for (let i = 1n; i < 20n; i++) {
        const tx = transferOf(scene, i).bytes;
        const second = blockOn(node, mav, pause, { transactions: [tx] });
        // The one with the lower id would take the place of the first and be looked at for that.
        if (compare(blockId(second), blockId(first)) < 0) continue;
        mav.notifyAll(blockProtocols.newBlock, inFull(second));
        return;
      }
    },
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'announcements that are cut short',
    act: onTurn((scene) => inFull(due(scene)).slice(0, -1)),
    blame: offence('malformed-message', 'blacklisted'),
  },
];

/** Of a transaction that every pool has had. */
function repeatedHash(): Row {
  let hash: Uint8Array | undefined;
  return {
    name: 'the hash of one pooled transaction 65,535 times',
    act(scene) {
      const { mav, node, now, second, isTurn } = scene;
      if (second === 1) {
        const { bytes } = transferOf(scene, 7n);
        hash = scheme.fastHash(bytes);
        spread(mav, [bytes]);
      }
      if (!isTurn || second < 5 || hash === undefined) return;
      const { header } = blockOn(node, mav, now);
      const txs = Array<CompactTx>(HASHES_MAX).fill({ hash });
      mav.notifyAll(blockProtocols.newBlock, encodeCompact({ header, txs }, scheme));
    },
    blame: offence('malformed-message', 'blacklisted'),
  };
}
