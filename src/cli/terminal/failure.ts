/** Turns the error of a command into a message on stderr and an exit code (node.md#start). */
import { CommanderError } from 'commander';
import { AssertionError } from '../../base/assert.ts';
import { visibleLines } from '../../base/visible.ts';
import { ConfigError } from '../../node/config/problems.ts';
import { CliError, EXIT } from './exit.ts';
import { warn } from './output.ts';

export function exitCodeFor(cause: unknown): number {
  // Commander has already printed its message. A request for help is no failure.
  if (cause instanceof CommanderError) return cause.exitCode === 0 ? EXIT.ok : EXIT.usage;
  // It may quote a contract, a node or a file.
  const message = visibleLines(cause instanceof Error ? cause.message : String(cause));
  if (cause instanceof CliError) {
    if (message !== '') console.error(message);
    return cause.code;
  }
  if (cause instanceof AssertionError) {
    console.error(cause.stack ?? message);
    return EXIT.assertion;
  }
  // A mistyped key or include is often why another setting is missing.
  if (cause instanceof ConfigError) cause.unknown.forEach(warn);
  console.error(message);
  if (process.env['PLATFORM_NODE_STACK'] !== undefined && cause instanceof Error) {
    console.error(cause.stack);
  }
  return EXIT.failure;
}
