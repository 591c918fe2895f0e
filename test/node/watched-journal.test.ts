// Whether a journal works, as health, metrics and the miner see it.
import t from 'tap';
import { JournalBrokenError } from '../../src/base/faults/journal-broken.ts';
import { JournalFullError } from '../../src/base/faults/journal-full.ts';
import type { Journal } from '../../src/base/ports/journal.ts';
import { watchJournal } from '../../src/node/watched-journal.ts';

t.test('a journal is watched', async (t) => {
  let fault: Error | undefined;
  const write = async (): Promise<void> => {
    if (fault !== undefined) throw fault;
  };
  const inner: Journal = { recovered: [], append: write, rewrite: write, close: async () => {} };
  const { journal, problem, outage } = watchJournal(inner, 'the pool');
  const record = new Uint8Array(1);
  await journal.append(record);
  t.equal(problem(), undefined);
  fault = new JournalFullError('too much waits');
  await t.rejects(journal.append(record));
  t.equal(problem(), undefined, 'overload is no fault');
  fault = new Error('the disk is full');
  await t.rejects(journal.append(record), /disk is full/);
  t.equal(problem(), 'the pool cannot be written to disk: Error: the disk is full');
  fault = undefined;
  await journal.rewrite([]);
  t.equal(problem(), undefined, 'it works again');
  t.equal(outage(), undefined);
  fault = new JournalBrokenError('out of use');
  await t.rejects(journal.append(record));
  t.equal(outage(), problem());
  t.match(problem(), /the pool cannot be written to disk before a restart: .*out of use/);
});
