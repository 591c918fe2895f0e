/** Run under a limit of the size of files: a record that does not fit between two that do. */
import { openJournal } from '../../src/adapters/journal.ts';

const TOO_LONG = 8 * 1024 * 1024;

const journal = openJournal({ path: process.argv[2] ?? '' });
const outcomes: string[] = [];
for (const record of [Buffer.from('a'), Buffer.alloc(TOO_LONG), Buffer.from('b')]) {
  outcomes.push(
    await journal.append(record).then(
      () => 'written',
      (error: Error) => String((error.cause as NodeJS.ErrnoException).code),
    ),
  );
}
await journal.close();
process.stdout.write(outcomes.join());
