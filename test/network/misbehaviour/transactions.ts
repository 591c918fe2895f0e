/** Misbehaviours with unconfirmed transactions. */
import { concat } from '../../../src/base/bytes.ts';
import { WRONG_PROOFS_MAX } from '../../../src/network/gossip/suspicions.ts';
import { blockProtocols, encodeTxList } from '../../../src/network/messages/block-messages.ts';
import { encodeTxHashes, txProtocols } from '../../../src/network/messages/transaction-messages.ts';
import { payment, scheme } from '../../chain/chain-harness.ts';
import { blockOn, inFull } from '../maverick.ts';
import {
  nobody,
  offence,
  oversized,
  type Row,
  type Scene,
  spread,
  stranger,
  transferOf,
} from './row.ts';

const emptyPools: NonNullable<Row['after']> = (t, { nodes }) => {
  for (const { node } of nodes) t.equal(node.pool.size(), 0);
};

const PER_SECOND = 20;
const FLOOD_PER_SECOND = 300;

/** With a signature that nobody has made. */
const forged = ({ mav, now, rng }: Scene, amount: number): Uint8Array =>
  payment({ ...mav, sign: () => rng.bytes(64) }, stranger, BigInt(amount), now).bytes;

/** The list of this transaction alone, which the encoder refuses to write. */
function listOf(bytes: Uint8Array): Uint8Array {
  const head = new DataView(new ArrayBuffer(6));
  head.setUint16(0, 1);
  head.setInt32(2, bytes.length);
  return concat(new Uint8Array(head.buffer), bytes);
}

export const aboutTransactions: readonly Row[] = [
  {
    name: 'transactions of accounts without funds',
    act({ mav, now, second }) {
      const txs = Array.from({ length: PER_SECOND }, (_, i) =>
        payment(stranger, mav, BigInt(second * PER_SECOND + i), now - 1000),
      );
      spread(
        mav,
        txs.map(({ bytes }) => bytes),
      );
    },
    blame: nobody,
    after(t, { nodes, second }) {
      for (const { node, name, signatureChecks } of nodes) {
        t.equal(node.pool.size(), 0);
        t.ok(signatureChecks() < second * 10, `${signatureChecks()} signatures checked by ${name}`);
      }
    },
  },

  {
    name: 'bytes that are no transactions',
    act({ mav, rng }) {
      const junk = Array.from({ length: 20 }, () => rng.bytes(1 + rng.below(300)));
      spread(mav, junk);
    },
    blame: offence('invalid-transactions', 'blacklisted'),
    after: emptyPools,
  },

  {
    name: 'a transaction that is well signed and too large',
    act(scene) {
      const bytes = oversized(scene);
      spread(scene.mav, [bytes]);
      scene.mav.answers.set(txProtocols.txs, async () => listOf(bytes));
    },
    blame: offence('malformed-message', 'blacklisted'),
    after: emptyPools,
  },

  {
    name: 'transactions other than those that were announced',
    act({ mav, now, rng, second }) {
      const other = payment(mav, stranger, BigInt(second), now - 1000);
      mav.answers.set(txProtocols.txs, async () => encodeTxList([other.bytes], scheme));
      mav.notifyAll(txProtocols.hashes, encodeTxHashes([rng.bytes(32)], scheme));
    },
    blame: nobody,
    after: emptyPools,
  },

  {
    name: 'transactions with wrong signatures',
    act(scene) {
      spread(
        scene.mav,
        Array.from({ length: 50 }, (_, i) => forged(scene, i + 1)),
      );
    },
    blame: offence('invalid-transactions', 'blacklisted'),
    after: emptyPools,
  },

  {
    name: 'a flood of transactions with wrong signatures',
    act(scene) {
      const { mav, second } = scene;
      const txs = Array.from({ length: FLOOD_PER_SECOND }, (_, i) =>
        forged(scene, second * FLOOD_PER_SECOND + i),
      );
      spread(mav, txs);
    },
    blame: offence('invalid-transactions', 'blacklisted'),
    after(t, scene) {
      emptyPools(t, scene);
      // Muted at once, and suspected after two cleanups of the pool: a window more.
      for (const { signatureChecks, name } of scene.nodes) {
        t.ok(signatureChecks() < 7 * WRONG_PROOFS_MAX, `${signatureChecks()} by ${name}`);
      }
    },
  },

  {
    name: 'good transactions and blocks that the node has no room to check',
    noRoomFor: (message) => Buffer.from(message).indexOf(stranger.address) >= 0,
    act(scene) {
      const { mav, node, now, second, isTurn } = scene;
      const { bytes } = transferOf(scene, BigInt(second));
      spread(mav, [bytes]);
      if (!isTurn) return;
      const block = blockOn(node, mav, now, { transactions: [bytes] });
      mav.notifyAll(blockProtocols.newBlock, inFull(block));
    },
    blame: nobody,
    after(t, scene) {
      emptyPools(t, scene);
      for (const { log, name } of scene.nodes) {
        t.ok(log.of('tx.refused').length > 0, `${name} had no room for transactions`);
        t.ok(log.of('block.gossip-failed').length > 0, `${name} had no room for blocks`);
      }
    },
  },

  {
    name: 'scenario 77: transactions of a type that only blocks carry',
    act({ mav, at }) {
      spread(mav, at.genesis.transactions.slice(0, 1));
    },
    blame: offence('invalid-transactions', 'blacklisted'),
    after: emptyPools,
  },

  {
    name: 'hashes of transactions that never come',
    act({ mav, rng }) {
      const hashes = Array.from({ length: 500 }, () => rng.bytes(32));
      mav.notifyAll(txProtocols.hashes, encodeTxHashes(hashes, scheme));
    },
    blame: offence('withheld', 'blacklisted'),
  },
];
