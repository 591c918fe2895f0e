/** `platform-node db stat|verify|compact`: the file of the chain (docs/guide/operations.md). */
import type { Command } from 'commander';
import type { SetFlags } from '../../config-file.ts';
import { setOption } from '../config.ts';
import type { VerifyFlags } from './verify-db.ts';

export function register(command: Command): void {
  const sub = (words: string, summary: string) =>
    command.command(words).description(summary).addOption(setOption());
  sub(
    'stat <config>',
    'Print height, size and free pages of the store, and rows and bytes of each table; the node may run.',
  ).action(stat);
  sub(
    'verify <config>',
    'Check each row of the store, its network and settings, and the sums of the state; the node may run. ' +
      'Exit code 1: something is wrong.',
  )
    .option(
      '--full',
      'also judge all blocks anew beside it, and compare each state hash and each row',
    )
    .action(verify);
  sub(
    'compact <config>',
    'Write the store of a stopped node anew without its free pages. An interruption changes nothing.',
  ).action(compact);
}

async function stat(path: string, flags: SetFlags): Promise<void> {
  const { storeStat } = await import('./stat-db.ts');
  const { printJson } = await import('../../terminal/output.ts');
  printJson(await storeStat(path, flags));
}

async function verify(path: string, flags: VerifyFlags): Promise<void> {
  const { verifyStore } = await import('./verify-db.ts');
  const { printJson } = await import('../../terminal/output.ts');
  printJson(await verifyStore(path, flags));
}

async function compact(path: string, flags: SetFlags): Promise<void> {
  const { compactDb } = await import('./compact-db.ts');
  const { printJson } = await import('../../terminal/output.ts');
  printJson(await compactDb(path, flags));
}
