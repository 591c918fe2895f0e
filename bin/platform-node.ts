#!/usr/bin/env node
/** Entry of the `platform-node` command: passes the command line to src/cli/program.ts. */
import { run } from '../src/cli/program.ts';

// By default Node opens a debugger, which obeys any user of the machine. Its flag against that blocks the
// signal for the whole process, so that nothing could take it.
process.on('SIGUSR1', () => undefined);

// A reader that closes the pipe early (head, less) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  const why = error.code === 'ENOSPC' ? 'the device is full' : error.message;
  console.error(`The answer cannot be written: ${why}`);
  process.exit(1);
});

process.exitCode = await run(process.argv.slice(2));
