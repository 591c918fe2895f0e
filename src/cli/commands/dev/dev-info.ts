/** `platform-node dev info`: what the start of a private network has printed. */
import { lstatSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { files } from '../../../adapters/files.ts';
import { CliError } from '../../terminal/exit.ts';
import { isForPerson, printJson } from '../../terminal/output.ts';
import { readDevNetwork } from './dev-network.ts';
import { FOLDER, readRunning } from './dev-running.ts';
import { summaryJson, summaryText } from './summary.ts';

/** `dir` absent: of the network of this user that was started last in a temporary folder. */
export async function printInfo(dir: string | undefined): Promise<void> {
  const folder = dir ?? latestRunning();
  const network = readDevNetwork(folder, files);
  if (network === undefined) throw new CliError(`there is no network of \`dev\` in '${folder}'`);
  const running = readRunning(folder);
  if (isForPerson()) console.log(`${summaryText(network, running)}\n  Folder     ${folder}\n`);
  else printJson({ running: running !== undefined, folder, ...summaryJson(network, running) });
}

function latestRunning(): string {
  const own = process.getuid?.();
  const found = readdirSync(tmpdir())
    .filter((name) => name.startsWith(FOLDER))
    .map((name) => join(tmpdir(), name))
    // Whoever else may write into the folder for temporary files must not choose what is printed.
    .flatMap((path) => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat?.isDirectory() !== true || (own !== undefined && stat.uid !== own)) return [];
      return readRunning(path) === undefined ? [] : [{ path, at: stat.birthtimeMs }];
    })
    .sort((one, other) => other.at - one.at);
  const [latest] = found;
  if (latest !== undefined) return latest.path;
  throw new CliError('no network of `dev` runs in a temporary folder: name its folder with --dir');
}
