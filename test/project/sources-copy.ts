/**
 * A copy of the sources, for tests which show that an addition takes one file and one line in a
 * list. The added file is in a folder of this repository, beside the script that tries it.
 */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { childEnvironment } from '../child-environment.ts';
import type { Scope } from '../system/e2e/process.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The copy finds its modules by their hashes, without types already. */
const STRIPPED_TYPES = 'scripts/stripped-types.cjs';

export interface Addition {
  /** Name of the file in the folder of the parts. */
  readonly file: string;
  /** Folder of the copy that gets it. */
  readonly to: string;
  /** The list, and the line that it gets. */
  readonly list: string;
  readonly line: string;
}

export interface SourcesCopy {
  add(addition: Addition): void;
  /** What the script prints; throws where it fails. */
  run(script: string): string;
}

/** `parts`: folder of what is added; `needs`: folders that the script imports beside `src`. */
export function copySources(
  scope: Scope,
  parts: string,
  needs: readonly string[] = [],
): SourcesCopy {
  const copy = mkdtempSync(join(tmpdir(), 'sources-'));
  scope.teardown(() => rmSync(copy, { recursive: true, force: true }));
  for (const name of ['src', 'package.json', STRIPPED_TYPES, parts, ...needs]) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return {
    add({ file, to, list, line }) {
      // Its imports lead to the sources from where it stands in the repository.
      const [from, into] = [parts, to].map((folder) => `${relative(folder, 'src')}/`);
      const text = readFileSync(join(ROOT, parts, file), 'utf8').replaceAll(from!, into!);
      writeFileSync(join(copy, to, file), text);
      appendFileSync(join(copy, list), `${line}\n`);
    },
    run: (script) =>
      execFileSync(
        process.execPath,
        [
          '--disable-warning=ExperimentalWarning',
          `--require=./${STRIPPED_TYPES}`,
          join(parts, script),
        ],
        {
          cwd: copy,
          encoding: 'utf8',
          env: childEnvironment(),
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      ),
  };
}
