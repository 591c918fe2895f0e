/**
 * What the image of a contract needs to run without a registry: programs of this machine with the
 * libraries that they load, at the same paths.
 *
 *   runtime/shell   busybox, else the machine's own shell and tools
 *   runtime/node    the Node that runs this command
 */
import { execFile } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { CliError } from '../../terminal/exit.ts';
import type { TarEntry } from './tar.ts';

export const RUNTIMES = ['shell', 'node'] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** Where there is no busybox. Those that the machine lacks are left out, except the shell. */
const TOOLS = (
  'sh awk base64 basename cat cut date dirname env expr grep head jq mkdir od printf rm sed sleep ' +
  'sort tail tee test tr uniq wc wget curl xargs'
).split(' ');
const OUTPUT_BYTES_MAX = 1024 * 1024;
const EXECUTABLE = 0o755;
/** The account under which containers run; programs may ask for its name. */
const PASSWD = 'root:x:0:0:root:/:/bin/sh\ncontract:x:10001:10001::/:/bin/sh\n';
const GROUP = 'root:x:0:\ncontract:x:10001:\n';

const execute = promisify(execFile);

/** Throws CliError where this machine cannot provide it. */
export async function runtimeFiles(runtime: Runtime): Promise<TarEntry[]> {
  const programs = runtime === 'node' ? nodeProgram() : await shellPrograms();
  const entries = new Map<string, TarEntry>();
  for (const program of programs) entries.set(program.path, program);
  const sources = programs.flatMap((one) => (one.kind === 'file' ? [one.source] : []));
  for (const source of new Set(sources)) {
    for (const library of await librariesOf(source)) {
      entries.set(library, fileAt(library, library));
    }
  }
  const rooted = [...entries.values()].map((entry) => ({ ...entry, path: entry.path.slice(1) }));
  return [
    ...rooted,
    { kind: 'text', path: 'etc/passwd', mode: 0o644, text: PASSWD },
    { kind: 'text', path: 'etc/group', mode: 0o644, text: GROUP },
  ];
}

const nodeProgram = (): TarEntry[] => [fileAt('/usr/bin/node', realpathSync(process.execPath))];

async function shellPrograms(): Promise<TarEntry[]> {
  const busybox = found('busybox');
  if (busybox !== undefined) {
    const { stdout } = await execute(busybox, ['--list'], { maxBuffer: OUTPUT_BYTES_MAX });
    const names = stdout.split('\n').filter((name) => name !== '' && name !== 'busybox');
    return [
      fileAt('/bin/busybox', busybox),
      ...names.map((name) => linkAt(`/bin/${name}`, 'busybox')),
    ];
  }
  return TOOLS.flatMap((name) => {
    const path = found(name);
    return path === undefined ? [] : [fileAt(`/bin/${name}`, path)];
  });
}

function found(program: string): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return realpathSync(path);
    } catch {
      // It is not in this folder.
    }
  }
  return undefined;
}

const fileAt = (path: string, source: string): TarEntry => ({
  kind: 'file',
  path,
  source,
  mode: EXECUTABLE,
  size: statSync(source).size,
});

const linkAt = (path: string, target: string): TarEntry => ({
  kind: 'link',
  path,
  target,
  mode: 0o777,
});

/** The shared libraries of a program and their loader, as ldd prints them. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await execute('ldd', [program], { maxBuffer: OUTPUT_BYTES_MAX }).catch(
    (cause: Error & { stdout?: string; code?: unknown }) => {
      // ldd ends with code 1 for a program that needs no libraries.
      if (cause.code === 1) return { stdout: '' };
      throw new CliError(
        `The libraries of ${program} cannot be found (${cause.message}); ` +
          'name a base image of your registry in the Dockerfile instead of runtime/…',
      );
    },
  );
  return [...stdout.matchAll(/(?:=>\s+|^\s*)(\/\S+)\s+\(0x/gm)].map(([, path]) => path!);
}
