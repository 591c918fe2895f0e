/**
 * The budget of every message between nodes (docs/limits.md). Sessions enforce it: they read no
 * longer message, answer no more requests of a peer at a time, and delay faster messages.
 */
import { KIB, MIB, type PeerBudget, peerBudget } from '../../base/limits/budget.ts';
import { blockBytesMax } from '../../block/block.ts';
import { FINAL_PROOF_BYTES_MAX } from '../../finality/proofs/final-proof.ts';
import { DECIDING_MAX } from '../../finality/proofs/justification.ts';
import { VOTES_OF_MESSAGE_MAX } from '../../finality/votes/votes-message.ts';
import { blockLimits, blockProtocols } from './block-messages.ts';
import { PEERS, PEERS_BYTES_MAX, PEERS_MAX } from './peer-messages.ts';
import { txLimits, txProtocols } from './transaction-messages.ts';
import { FINALITY_PROOFS, VOTES } from './vote-messages.ts';

/** For a node that catches up, which asks all its peers at once. */
const SYNC_BYTES = 32 * MIB;

/** Budget of votes on blocks (finality.md#spread); 269 bytes are those of the longest vote. */
export const votesBudget = peerBudget({
  bytesIn: 1 + VOTES_OF_MESSAGE_MAX * 269,
  elements: VOTES_OF_MESSAGE_MAX,
  rows: 0,
  bytesOut: 0,
  concurrent: 0,
  pace: { messages: 50, bytes: MIB },
});

/** Budget of proofs of final blocks: one comes when a peer connects. */
export const proofsBudget = peerBudget({
  bytesIn: FINAL_PROOF_BYTES_MAX,
  elements: DECIDING_MAX,
  rows: 0,
  bytesOut: 0,
  concurrent: 0,
  pace: { messages: 5, bytes: MIB },
});

export const budgets = {
  head: peerBudget({
    bytesIn: blockLimits.tipBytesMax,
    rows: 0,
    bytesOut: 0,
    concurrent: 0,
    pace: { messages: 50, bytes: 16 * KIB },
  }),
  ids: peerBudget({
    bytesIn: blockLimits.getIdsBytesMax,
    elements: blockLimits.ownIdsMax,
    rows: blockLimits.ownIdsMax + blockLimits.idsMax,
    bytesOut: blockLimits.idsBytesMax,
    concurrent: 2,
    pace: { messages: 100, bytes: 2 * MIB },
  }),
  hashes: peerBudget({
    bytesIn: txLimits.hashesBytesMax,
    elements: txLimits.countMax,
    rows: txLimits.countMax,
    bytesOut: 0,
    concurrent: 0,
    pace: { messages: 200, bytes: 2 * MIB },
  }),
  txs: peerBudget({
    bytesIn: txLimits.hashesBytesMax,
    elements: txLimits.countMax,
    rows: txLimits.countMax,
    bytesOut: txLimits.answerBytesMax,
    concurrent: 4,
    pace: { messages: 200, bytes: 4 * MIB },
  }),
  peers: peerBudget({
    bytesIn: PEERS_BYTES_MAX,
    elements: PEERS_MAX,
    rows: 0,
    bytesOut: PEERS_BYTES_MAX,
    concurrent: 0,
    pace: { messages: 20, bytes: MIB },
  }),
} as const satisfies Record<string, PeerBudget>;

/**
 * The budgets of messages with blocks, given the bytes of transactions that the network allows in a
 * block.
 */
export function blockBudgets(transactionBytesMax: number) {
  // With room for the lengths around it.
  const blockBytes = blockBytesMax(transactionBytesMax) + KIB;
  return {
    blocks: peerBudget({
      bytesIn: blockLimits.getBlocksBytesMax,
      elements: blockLimits.blocksMax,
      rows: blockLimits.blocksMax + 65_535,
      bytesOut: blockLimits.answerBytes + blockBytes,
      streamed: true,
      concurrent: 4,
      pace: { messages: 200, bytes: SYNC_BYTES },
    }),
    blockTxs: peerBudget({
      bytesIn: blockLimits.getBlockTxsBytesMax,
      elements: 65_535,
      rows: 65_535,
      bytesOut: blockBytes,
      streamed: true,
      concurrent: 2,
      pace: { messages: 50, bytes: 8 * MIB },
    }),
    newBlock: peerBudget({
      bytesIn: blockBytesMax(transactionBytesMax) + 33 * 65_535,
      elements: 65_535,
      rows: 65_535,
      bytesOut: 0,
      concurrent: 0,
      pace: { messages: 100, bytes: 8 * MIB },
    }),
  } as const satisfies Record<string, PeerBudget>;
}

/** The budgets by protocol. */
export function networkBudgets(transactionBytesMax: number): ReadonlyMap<string, PeerBudget> {
  const { blocks, blockTxs, newBlock } = blockBudgets(transactionBytesMax);
  return new Map<string, PeerBudget>([
    [blockProtocols.head, budgets.head],
    [blockProtocols.ids, budgets.ids],
    [blockProtocols.blocks, blocks],
    [blockProtocols.newBlock, newBlock],
    [blockProtocols.blockTxs, blockTxs],
    [txProtocols.hashes, budgets.hashes],
    [txProtocols.txs, budgets.txs],
    [PEERS, budgets.peers],
    [VOTES, votesBudget],
    [FINALITY_PROOFS, proofsBudget],
  ]);
}
