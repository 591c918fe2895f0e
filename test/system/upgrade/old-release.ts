/**
 * An earlier release, from the history of the checkout: its sources in a folder of the test, with the
 * installed packages where they are those of its own lock file.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../../..');
const INSTALL_MS_MAX = 240_000;

const run = promisify(execFile);

/** Why there are no sources of this commit; undefined where there are. */
export async function whyNoRelease(commit: string): Promise<string | undefined> {
  try {
    await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT });
    return undefined;
  } catch {
    return `the history does not reach back to ${commit} (git fetch --unshallow)`;
  }
}

/** Puts it into a new folder. */
export async function placeRelease(commit: string, folder: string): Promise<void> {
  mkdirSync(folder);
  const archive = join(folder, '..', `${commit}.tar`);
  await run('git', ['archive', `--output=${archive}`, commit], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', folder]);
  if (isInstalled(folder)) {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  } else {
    await run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], {
      cwd: folder,
      timeout: INSTALL_MS_MAX,
    });
  }
}

interface Locked {
  readonly version?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
}

/** The release checked its types with it, and no source loads it. */
const TYPE_CHECKER = 'node_modules/@typescript/native-preview';

/**
 * True when the checkout has each package of the release in its version, also those for development:
 * the sources load most of them.
 */
function isInstalled(folder: string): boolean {
  const text = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, Locked>> };
  return Object.entries(packages).every(([path, { version, link, optional }]) => {
    if (path === '' || path === TYPE_CHECKER || link === true) return true;
    const manifest = join(ROOT, path, 'package.json');
    // Optional packages of other platforms are nowhere.
    if (!existsSync(manifest)) return optional === true;
    return (JSON.parse(readFileSync(manifest, 'utf8')) as Locked).version === version;
  });
}
