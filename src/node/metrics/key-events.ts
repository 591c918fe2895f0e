/** Events of the log about the keys of a node: in its keystore, or with a signer, which has its own. */
export const keyEvents = {
  'finality.not-signed':
    'The signer has not signed a vote; it is asked again each round. `why` is the reason.',
  'miner.no-signer': 'The signer does not answer, so this node makes no block: see signer.away.',
  'signer.away':
    'The signer that has the keys of this node does not answer: the node goes on without blocks and votes of its own, and connects again by itself.',
  'signer.connection-ended':
    'Of the signer: a connection broke its rules or was refused; `why` says how.',
  'signer.failed': 'Of the signer: an unexpected error, and the signer ends; report it.',
  'signer.listening': 'Of the signer: nodes can connect at this place.',
  'signer.refused': 'Of the signer: it has not signed what was asked for; `why` is the reason.',
  'signer.returned': 'The signer answers again.',
  'signer.signed': 'Of the signer: what it has signed, with which key.',
  'signer.stop-timeout': 'Of the signer: the orderly stop took too long; the process ends anyway.',
  'signer.stopped': 'Of the signer: it has stopped properly.',
  'signer.stopping': 'Of the signer: it received a request to stop.',
  'signer.wrong-signature':
    'A signature of the signer is wrong, so the node does not use it: check the memory of its machine, and report it.',
  'keystore.reload.failed': 'The keystore on disk cannot be read; the old one stays in use.',
  'owner.no-balance':
    'The owner of the node has no tokens in the chain that this node has so far: its transactions are refused.',
  'owner.no-roles':
    'The owner of the node has no roles in the chain that this node has so far: it makes no blocks.',
} as const;
