/** `platform-node doctor`: finds problems that keep a node from working well. */

import type { Command } from 'commander';
import type { SetFlags } from '../config-file.ts';
import type { Finding } from '../health-checks.ts';
import { EXIT } from '../terminal/exit.ts';
import { colour, printJson } from '../terminal/output.ts';
import { setOption } from './config.ts';

export function register(command: Command): void {
  command
    .argument('<file>', 'configuration of the node')
    .addOption(setOption())
    .option('--json', 'one JSON object a line')
    .addHelpText(
      'after',
      '\nChecks configuration, genesis, folders, disk, keystore or signer, owner, clock, REST listener,\n' +
        'ports, open-file limit, container engine. Exit code 1 if one of them is an error.',
    )
    .action(async (file: string, flags: SetFlags & { json?: true }) => {
      const { examine } = await import('../health-checks.ts');
      for await (const finding of examine(file, flags.set)) {
        report(finding, flags.json === true || !process.stdout.isTTY);
      }
    });
}

const COLOURS = { ok: 'green', warning: 'yellow', error: 'red' } as const;

function report(finding: Finding, json: boolean): void {
  if (finding.status === 'error') process.exitCode = EXIT.failure;
  if (json) {
    printJson(finding);
    return;
  }
  const mark = colour(COLOURS[finding.status], finding.status.padEnd(8), process.stdout);
  console.log(`${mark}${finding.check}: ${finding.detail}`);
}
