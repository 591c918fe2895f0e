/** Two mavericks at a time; each of their rows must hold in the presence of the other. */
import { aboutBlocks } from './blocks.ts';
import { aboutForgeries } from './forgeries.ts';
import { aboutRequests } from './requests.ts';
import type { Row } from './row.ts';
import { aboutSessions } from './sessions.ts';
import { aboutSync } from './sync.ts';
import { aboutTransactions } from './transactions.ts';

const rows = [
  ...aboutBlocks,
  ...aboutForgeries,
  ...aboutSync,
  ...aboutTransactions,
  ...aboutSessions,
  ...aboutRequests,
];

function named(name: string): Row {
  const found = rows.find((row) => row.name === name);
  if (found === undefined) throw new Error(`no row is called ${name}`);
  return found;
}

const pair = (one: string, other: string): readonly [Row, Row] => [named(one), named(other)];

export const pairs = [
  pair('a block whose body is withheld', 'another header under the id of a good block'),
  pair('a flood of blocks without parents', 'transactions with wrong signatures'),
  pair('scenario 103: a score, ids, and no blocks', 'a list of transactions of another block'),
  pair('the hash of one pooled transaction 65,535 times', 'requests without end'),
  pair('a fork by somebody without the role', 'hashes of transactions that never come'),
  pair(
    'scenario 21: a miner that does not wait for its turn',
    'a second block of its turn, made in the pause after it',
  ),
  pair(
    'a score, and correct but useless blocks, each just in time',
    'a score that is taken back as soon as it is followed',
  ),
  pair('a score, and blocks that join no chain', 'ids and blocks without end'),
  pair('a score, and no block in common', 'a block asked for a hundred times in one request'),
];
