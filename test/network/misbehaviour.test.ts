/**
 * Misbehaviours of registered miners among three honest ones (row R6 of docs/reliability.md), on
 * virtual time. The rows are in the folder `misbehaviour`, by subject.
 */
import t from 'tap';
import { aboutBlocks } from './misbehaviour/blocks.ts';
import { aboutForgeries } from './misbehaviour/forgeries.ts';
import { pairs } from './misbehaviour/pairs.ts';
import { aboutRequests } from './misbehaviour/requests.ts';
import { misbehave } from './misbehaviour/run.ts';
import { aboutSessions } from './misbehaviour/sessions.ts';
import { aboutStatuses } from './misbehaviour/statuses.ts';
import { aboutSync } from './misbehaviour/sync.ts';
import { aboutTransactions } from './misbehaviour/transactions.ts';
import { aboutVotes } from './misbehaviour/votes.ts';

// Of the processor, not of the simulation.
t.setTimeout(600_000);

const rows = [
  ...aboutBlocks,
  ...aboutForgeries,
  ...aboutSync,
  ...aboutTransactions,
  ...aboutSessions,
  ...aboutRequests,
  ...aboutStatuses,
  ...aboutVotes,
];

for (const row of rows) t.test(row.name, { timeout: 120_000 }, (t) => misbehave(t, [row]));

for (const [one, other] of pairs) {
  const name = `at once: ${one.name}; ${other.name}`;
  t.test(name, { timeout: 120_000 }, (t) => misbehave(t, [one, other]));
}

t.test('there are enough of them', async (t) => {
  const names = new Set(rows.map(({ name }) => name));
  t.equal(names.size, rows.length, 'each has a name of its own');
  t.ok(rows.length + pairs.length >= 50, `${rows.length} rows and ${pairs.length} pairs`);
});
