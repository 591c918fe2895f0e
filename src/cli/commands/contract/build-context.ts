/**
 * The files from which an engine builds the image of a contract: the project, and the runtimes that
 * its Dockerfile copies (contract-runtime.ts).
 */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '../../terminal/exit.ts';
import { RUNTIMES, type Runtime, runtimeFiles } from './contract-runtime.ts';
import type { TarEntry } from './tar.ts';

const FILES_MAX = 50_000;
const BYTES_MAX = 1024 * 1024 * 1024;
const DOCKERFILE = 'Dockerfile';
/** Never part of an image. */
const LEFT_OUT = new Set(['.git']);

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
  const copied = dockerfile.split('\n').filter((line) => /^\s*COPY\s/i.test(line));
  return RUNTIMES.filter((name) => {
    const path = `runtime/${name}/`;
    // A project may bring a runtime of its own.
    return (
      copied.some((line) => line.includes(path)) &&
      !project.some((one) => one.path.startsWith(path))
    );
  });
}

function* projectFiles(folder: string): Generator<TarEntry> {
  let files = 0;
  let bytes = 0;
  for (const path of pathsIn(folder, '')) {
    const source = join(folder, path);
    const found = lstatSync(source);
    const { mode, size } = found;
    files += 1;
    bytes += size;
    if (files > FILES_MAX || bytes > BYTES_MAX) {
      throw new CliError(
        `${folder} has more than ${FILES_MAX} files or ${BYTES_MAX / 2 ** 20} MiB; ` +
          'a contract needs a folder of its own',
      );
    }
    if (found.isSymbolicLink())
      yield { kind: 'link', path, mode: 0o777, target: readlinkSync(source) };
    else yield { kind: 'file', path, source, size, mode: mode & 0o777 };
  }
}

/** Files and links, in the order of their names; folders follow from the paths. */
function* pathsIn(root: string, below: string): Generator<string> {
  const entries = readdirSync(join(root, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (LEFT_OUT.has(entry.name)) continue;
    if (entry.isDirectory()) yield* pathsIn(root, path);
    else if (entry.isFile() || entry.isSymbolicLink()) yield path;
  }
}
