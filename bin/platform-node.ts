#!/usr/bin/env node
/** Entry of the `platform-node` command: passes the command line to src/cli/program.ts. */
import { run } from '../src/cli/program.ts';

// A reader that closes the pipe early (head, less) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await run(process.argv.slice(2));
