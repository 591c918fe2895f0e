/** `platform-node permissions <address>`: the roles of an account, now or at a time. */
import { type Command, InvalidArgumentError } from 'commander';
import { type NodeFlags, nodeOptions } from '../node-options.ts';

interface Flags extends NodeFlags {
  at?: number;
}

export function register(command: Command): void {
  nodeOptions(command)
    .argument('<address>', 'address of the account')
    .option('--at <time>', 'ms since 1970 UTC, or a date such as 2026-01-31T12:00Z', time)
    .action(async (address: string, flags: Flags) => {
      const { permissions } = await import('../../rest/routes/permissions.ts');
      const { printAnswer } = await import('../rest-calls.ts');
      const { at: timestamp } = flags;
      await printAnswer(flags, ({ call }) =>
        timestamp === undefined
          ? call(permissions.now, { params: { address } })
          : call(permissions.at, { params: { address, timestamp } }),
      );
    });
}

function time(text: string): number {
  const ms = /^\d{1,16}$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isNaN(ms) || ms < 1) throw new InvalidArgumentError('expected a time after 1970');
  return ms;
}
