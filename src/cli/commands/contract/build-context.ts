/**
 * The files from which an engine builds the image of a contract: the project, and the runtimes that
 * its Dockerfile copies (contract-runtime.ts).
 */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '../../terminal/exit.ts';
import { RUNTIMES, type Runtime, runtimeFiles } from './contract-runtime.ts';
import { IGNORE_FILES, type IgnoredFiles, ignoredFiles } from './ignored-files.ts';
import type { TarEntry } from './tar.ts';

const FILES_MAX = 50_000;
const BYTES_MAX = 1024 * 1024 * 1024;
const DOCKERFILE = 'Dockerfile';
/** Never part of an image. An engine would apply the patterns again, some of them to the runtimes. */
const LEFT_OUT = new Set<string>(['.git', ...IGNORE_FILES]);

/** Throws CliError where the folder holds no project or too much. */
export async function buildContext(folder: string): Promise<TarEntry[]> {
  const project = [...projectFiles(folder)];
  const runtimes = runtimesIn(folder, project);
  const added = await Promise.all(
    runtimes.map(async (name) =>
      (await runtimeFiles(name)).map((one) => ({ ...one, path: `runtime/${name}/${one.path}` })),
    ),
  );
  return [...project, ...added.flat()];
}

function runtimesIn(folder: string, project: readonly TarEntry[]): Runtime[] {
  let dockerfile: string;
  try {
    dockerfile = readFileSync(join(folder, DOCKERFILE), 'utf8');
  } catch {
    throw new CliError(
      `${folder} holds no ${DOCKERFILE}; 'platform-node contract init' makes a project`,
    );
  }
  // Comments and empty lines may stand within an instruction of several lines.
  const lines = dockerfile.split('\n').filter((line) => !/^\s*(?:#|$)/.test(line));
  const instructions = lines
    .join('\n')
    .replace(/\\\s*\n/g, ' ')
    .split('\n');
  const copied = instructions.filter((line) => /^\s*COPY\s/i.test(line));
  return RUNTIMES.filter((name) => {
    const named = new RegExp(`[\\s"/]runtime/${name}(?:["/\\s]|$)`);
    // A project may bring a runtime of its own.
    return (
      copied.some((line) => named.test(line)) &&
      !project.some((one) => one.kind !== 'folder' && one.path.startsWith(`runtime/${name}/`))
    );
  });
}

function* projectFiles(folder: string): Generator<TarEntry> {
  let files = 0;
  let bytes = 0;
  for (const path of pathsIn(folder, '', ignoredIn(folder))) {
    const source = join(folder, path);
    const found = lstatSync(source);
    const { mode, size } = found;
    files += 1;
    bytes += found.isDirectory() ? 0 : size;
    if (files > FILES_MAX || bytes > BYTES_MAX) {
      throw new CliError(
        `${folder} has more than ${FILES_MAX} files or ${BYTES_MAX / 2 ** 20} MiB; ` +
          'a contract needs a folder of its own',
      );
    }
    if (found.isSymbolicLink())
      yield { kind: 'link', path, mode: 0o777, target: readlinkSync(source) };
    else if (found.isDirectory()) yield { kind: 'folder', path, mode: mode & 0o777 };
    else yield { kind: 'file', path, source, size, mode: mode & 0o777 };
  }
}

/** Secrets of an author, and what makes an image large, stay out of it. */
function ignoredIn(folder: string): IgnoredFiles {
  const file = IGNORE_FILES.find((name) => existsSync(join(folder, name)));
  return ignoredFiles(file === undefined ? '' : readFileSync(join(folder, file), 'utf8'), file);
}

/** Files, links and folders without any, in the order of their names; other folders follow from the paths. */
function* pathsIn(root: string, below: string, ignored: IgnoredFiles): Generator<string> {
  const entries = readdirSync(join(root, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (LEFT_OUT.has(entry.name)) continue;
    // An engine needs it in any case.
    const isIgnored = path !== DOCKERFILE && ignored.has(path);
    if (entry.isDirectory()) {
      let isEmpty = true;
      if (isIgnored && ignored.isFinal) continue;
      for (const inner of pathsIn(root, path, ignored)) {
        isEmpty = false;
        yield inner;
      }
      // A Dockerfile may copy it.
      if (isEmpty && !isIgnored) yield path;
    } else if (!isIgnored && (entry.isFile() || entry.isSymbolicLink())) yield path;
  }
}
