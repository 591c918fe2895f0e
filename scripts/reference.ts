/**
 * Writes the files that follow from the settings table and the registered commands: the example
 * configuration, the manual pages, the reference pages. `--check` writes nothing and fails if one
 * of them is out of date.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exampleText } from '../src/cli/commands/network/network-texts.ts';
import { buildProgram } from '../src/cli/program.ts';
import { dataEvents, dataMetricTable } from '../src/data-service/observability.ts';
import { exampleConfig } from '../src/node/config/document.ts';
import { configurationPage } from './reference/configuration-page.ts';
import { limitsPage } from './reference/limits-page.ts';
import { commandReference, manualPages } from './reference/man.ts';
import { observabilityPage } from './reference/observability-page.ts';

const ROOT = join(import.meta.dirname, '..');

/** Path below the repository → text. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const program = await buildProgram(undefined);
  const pages = [...manualPages(program)].map(([name, text]) => [`man/${name}`, text] as const);
  return new Map([
    ['configs/example.conf', exampleConfig()],
    ['configs/network/poa.conf', exampleText('poa')],
    ['configs/network/pos.conf', exampleText('pos')],
    ['docs/reference/configuration.md', configurationPage()],
    ['docs/reference/cli.md', commandReference(program)],
    [
      'docs/reference/observability.md',
      observabilityPage({ events: dataEvents, metrics: dataMetricTable }),
    ],
    ['docs/limits.md', limitsPage()],
    ...pages,
  ]);
}

/** Generated files that are missing, differ, or belong to nothing any more. */
export async function staleFiles(): Promise<string[]> {
  const files = await generatedFiles();
  const stale = [...files].filter(([path, text]) => readText(path) !== text).map(([path]) => path);
  return [...stale, ...leftoverPages(files)];
}

function leftoverPages(files: ReadonlyMap<string, string>): string[] {
  const pages = readdirSync(join(ROOT, 'man'), { recursive: false }).map(
    (name) => `man/${String(name)}`,
  );
  return pages.filter((path) => !files.has(path));
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(join(ROOT, path), 'utf8');
  } catch {
    return undefined;
  }
}

async function main(check: boolean): Promise<void> {
  mkdirSync(join(ROOT, 'man'), { recursive: true });
  if (check) {
    const stale = await staleFiles();
    for (const path of stale) console.error(`${path} is out of date: node scripts/reference.ts`);
    if (stale.length > 0) process.exitCode = 1;
    return;
  }
  const files = await generatedFiles();
  for (const path of leftoverPages(files)) rmSync(join(ROOT, path));
  for (const [path, text] of files) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
  }
}

if (import.meta.main) await main(process.argv.includes('--check'));
