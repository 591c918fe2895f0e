/** Events of the log about the miner of a node, its turns and its sealed blocks. */
export const minerEvents = {
  'miner.failed': 'A block could not be made; the next slot will be tried.',
  'miner.journal-cut':
    'The journal of the miner ended in the middle of a write, as a power failure leaves it; nothing was signed for what is missing.',
  'miner.journal-damaged':
    'The journal of the miner was damaged at `places`; `records` turns could be read, a copy is `kept`; a turn that is missing could be used again: check the health of the disk.',
  'miner.no-disk':
    'The disk is almost full or refuses blocks, or blocks that were missed meanwhile are still missing, so this node makes no block.',
  'miner.no-journal':
    'After a fault of the disk no turn of the miner can be noted, so this node makes no block: check the health of the disk, then restart.',
  'miner.no-quorum': 'Too few miners are connected, so this node makes no block.',
  'miner.no-votes':
    'A quorum has not voted on the last blocks, so this node makes none further above the final block: look which voters of GET /finality are behind.',
  'miner.no-time':
    'The time servers were of no use for ntp.fatal-timeout, so this node makes no block; it ends.',
  'miner.note-failed':
    'The turn of the miner cannot be written to disk, so no block was signed: check disk space and disk health.',
  'miner.block-finished':
    'A block that was sealed and not stored, since the node, its disk or its signer failed, is in the chain now.',
  'miner.sealed-refused':
    'A block that was sealed and not stored breaks a rule by now; it is given up.',
  'miner.sealed-unreadable': 'The block that was sealed last cannot be read; it is given up.',
  'miner.shut-out':
    'The network has removed the owner of this node, so this node makes no block until it is registered again.',
  'miner.stale-tip':
    'The last block is too old, so this node makes no block: check its connections.',
} as const;
