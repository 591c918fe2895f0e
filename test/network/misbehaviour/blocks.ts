/** Misbehaviours with blocks: wrong ones, several, unfinished and old ones. */

import { decodeBlock } from '../../../src/block/block.ts';
import { headerRowAt } from '../../../src/chain/store/stored-blocks.ts';
import {
  blockProtocols,
  encodeBlocks,
  encodeTxList,
} from '../../../src/network/messages/block-messages.ts';
import { payment, scheme } from '../../chain/chain-harness.ts';
import { GENESIS_TIME, ROUND_MS, SYNC_MS, tipOf } from '../cluster.ts';
import { blockOn, inFull, inHashes, turnOf } from '../maverick.ts';
import {
  nobody,
  offence,
  onTurn,
  type Row,
  randomId,
  type Scene,
  spread,
  stranger,
  transferOf,
} from './row.ts';

const HOUR_MS = 3_600_000;

/** The block of its turn with these transactions, which break a rule. */
const bad = (name: string, transactions: (scene: Scene) => readonly Uint8Array[]): Row => ({
  name,
  act: onTurn((scene) =>
    inFull(blockOn(scene.node, scene.mav, scene.now, { transactions: transactions(scene) })),
  ),
  blame: offence('invalid-block', 'blacklisted'),
});

function minedAgain(): Row {
  let mined = new Uint8Array(0);
  return {
    name: 'a transaction that the chain has already',
    act(scene) {
      const { mav, node, now, second, isTurn } = scene;
      if (second === 1) {
        mined = transferOf(scene, 7n).bytes.slice();
        spread(mav, [mined]);
      }
      if (!isTurn || second < 15) return;
      const block = blockOn(node, mav, now, { transactions: [mined] });
      mav.notifyAll(blockProtocols.newBlock, inFull(block));
    },
    blame: offence('invalid-block', 'blacklisted'),
  };
}

export const aboutBlocks: readonly Row[] = [
  bad('bytes that are no transaction in a block', ({ rng }) => [rng.bytes(200)]),
  bad('a genesis transaction in a block', ({ at }) => at.genesis.transactions.slice(0, 1)),
  minedAgain(),
  bad('a transaction from far in the future in a block', ({ mav, now }) => [
    payment(mav, stranger, 1n, now + 2 * HOUR_MS).bytes,
  ]),
  {
    ...bad(
      'bytes that are no transaction in a block of a miner behind another owner',
      ({ rng }) => [rng.bytes(200)],
    ),
    hasPrivacyOwner: true,
  },
  bad('a transaction that has expired in a block', ({ mav, now }) => [
    payment(mav, stranger, 1n, now - 3 * HOUR_MS).bytes,
  ]),

  {
    name: 'a block in the pause of its round',
    act({ isTurn, node, mav, now }) {
      if (!isTurn) return;
      const pause = now - ((now - GENESIS_TIME) % ROUND_MS) + ROUND_MS - SYNC_MS;
      mav.notifyAll(blockProtocols.newBlock, inFull(blockOn(node, mav, pause)));
    },
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'a block that is older than its parent',
    act: onTurn(({ node, mav }) =>
      inFull(blockOn(node, mav, tipOf(node).header.timestamp - ROUND_MS)),
    ),
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'scenario 28: a miner that makes two blocks in its round',
    act(scene) {
      if (!scene.isTurn) return;
      const { mav, node, nodes, now } = scene;
      const blocks = [1n, 2n].map((amount) =>
        blockOn(node, mav, now, { transactions: [transferOf(scene, amount).bytes] }),
      );
      for (const [i, one] of nodes.entries()) {
        mav.session(one)?.notify(blockProtocols.newBlock, inFull(blocks[i % 2]!));
      }
    },
    after(t, { nodes }) {
      for (const { log, name } of nodes) {
        t.ok(log.of('block.equivocation').length > 0, `the evidence is in the log of ${name}`);
        t.strictSame(log.of('peer.offence'), [], 'which is for the operators to judge');
      }
    },
    blame: nobody,
  },

  {
    name: 'scenario 21: a miner that does not wait for its turn',
    act({ isTurn, mav, node, now }) {
      if (!isTurn) mav.notifyAll(blockProtocols.newBlock, inFull(blockOn(node, mav, now)));
    },
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'a block by nobody',
    act({ mav, node, now }) {
      mav.notifyAll(blockProtocols.newBlock, inFull(blockOn(node, stranger, now)));
    },
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'scenario 22: a block with a wrong signature',
    act(scene) {
      const { mav, node, now, isTurn } = scene;
      if (!isTurn) return;
      const { bytes } = blockOn(node, mav, now);
      bytes[bytes.length - 1]! ^= 1;
      mav.answers.set(blockProtocols.blocks, async () => encodeBlocks([bytes], scheme));
      mav.notifyAll(blockProtocols.newBlock, inFull(decodeBlock(bytes, scheme)));
    },
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'scenario 23: a block that understates the skipped rounds',
    act({ isTurn, node, mav, now }) {
      const { consensus } = blockOn(node, mav, now).header;
      if (!isTurn || consensus.kind !== 'poa' || consensus.skippedRounds === 0) return;
      const less = { ...consensus, skippedRounds: consensus.skippedRounds - 1 };
      mav.notifyAll(blockProtocols.newBlock, inFull(blockOn(node, mav, now, { consensus: less })));
    },
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'a transaction with a wrong signature in a block',
    act(scene) {
      const { mav, node, now, isTurn } = scene;
      if (!isTurn) return;
      const bytes = transferOf(scene, 1n).bytes.slice();
      bytes[bytes.length - 1]! ^= 1;
      const block = blockOn(node, mav, now, { transactions: [bytes] });
      mav.answers.set(blockProtocols.blocks, async () => encodeBlocks([block.bytes], scheme));
      mav.notifyAll(blockProtocols.newBlock, inFull(block));
    },
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'a transaction without funds in a block',
    act: onTurn((scene) => {
      const { node, mav, now } = scene;
      const tx = transferOf(scene, 10n ** 17n);
      return inFull(blockOn(node, mav, now, { transactions: [tx.bytes] }));
    }),
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'the same transaction twice in a block',
    act: onTurn((scene) => {
      const { bytes } = transferOf(scene, 1n);
      return inFull(blockOn(scene.node, scene.mav, scene.now, { transactions: [bytes, bytes] }));
    }),
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'a block of version 1',
    act: onTurn(({ node, mav, now }) => inFull(blockOn(node, mav, now, { version: 1 }))),
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'a block whose body is withheld',
    act: onTurn((scene) => {
      const { node, mav, now } = scene;
      return inHashes(blockOn(node, mav, now, { transactions: [transferOf(scene, 1n).bytes] }));
    }),
    blame: offence('withheld', 'noted'),
  },

  {
    name: 'headers in the name of others whose bodies never come',
    act({ nodes, node, mav, now, rng }) {
      const due = nodes.find((one) => turnOf(node, one, now) !== undefined);
      if (due === undefined) return;
      for (let i = 0; i < 40; i++) {
        const block = blockOn(node, { ...due, sign: () => randomId(rng) }, now, {
          transactions: [rng.bytes(100)],
        });
        mav.notifyAll(blockProtocols.newBlock, inHashes(block));
      }
    },
    blame: offence('withheld', 'blacklisted'),
  },

  {
    name: 'fragments that do not complete a block',
    act(scene) {
      const { node, mav, now, isTurn } = scene;
      if (!isTurn) return;
      const txs = [1n, 2n, 3n].map((amount) => transferOf(scene, amount).bytes);
      mav.answers.set(blockProtocols.blockTxs, async () => encodeTxList(txs.slice(1), scheme));
      mav.answers.set(blockProtocols.blocks, async () => encodeBlocks([undefined], scheme));
      const block = blockOn(node, mav, now, { transactions: txs });
      mav.notifyAll(blockProtocols.newBlock, inHashes(block));
    },
    blame: offence('withheld', 'noted'),
  },

  {
    name: 'a flood of old forks',
    act({ mav, node, now, rng }) {
      for (let i = 0; i < 300; i++) {
        const height = 1 + rng.below(tipOf(node).height);
        const reference = headerRowAt(node.node.blockchain.view, height)!.header.signature;
        const block = blockOn(node, { ...mav, sign: () => randomId(rng) }, now, { reference });
        mav.session(node)?.notify(blockProtocols.newBlock, inFull(block));
      }
    },
    blame: offence('invalid-block', 'blacklisted'),
  },

  {
    name: 'a flood of blocks without parents',
    act({ mav, node, now, rng }) {
      for (let i = 0; i < 700; i++) {
        const forged = { ...mav, sign: () => randomId(rng) };
        const block = blockOn(node, forged, now, { reference: randomId(rng) });
        mav.session(node)?.notify(blockProtocols.newBlock, inFull(block));
      }
    },
    blame: offence('flood', 'blacklisted'),
  },

  {
    name: 'a block from the next hour',
    act({ node, mav, now }) {
      const due = turnOf(node, mav, now + HOUR_MS);
      if (due === undefined) return;
      mav.notifyAll(blockProtocols.newBlock, inFull(blockOn(node, mav, due)));
    },
    after(t, { nodes }) {
      for (const { log } of nodes) t.strictSame(log.of('peer.offence'), [], 'which is no offence');
    },
    blame: nobody,
  },
];
