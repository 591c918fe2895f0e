/**
 * Images for tests, built without a registry: from nothing, with a static busybox or with the Node
 * binary of this installation. What was built once from the same content is used again.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { engineCall } from './api.ts';
import type { Engine } from './engine.ts';
import { type TarFile, tar } from './tar.ts';

export interface TestImage {
  /** Name with tag, as a 103 carries it. */
  readonly image: string;
  /** Id of the image without `sha256:`, as a 103 carries it. */
  readonly imageHash: string;
}

type Files = Readonly<Record<string, TarFile>>;

export const BUSYBOX = '/bin/busybox';

/** Why simple contracts cannot be built; undefined where they can. */
export const whyNoBusybox = (): string | undefined =>
  existsSync(BUSYBOX) && isStatic(BUSYBOX)
    ? undefined
    : 'there is no static busybox (Debian: apt install busybox-static)';

/** A contract of the simple interface: the main command sleeps, each call runs this script. */
export function simpleImage(
  engine: Engine,
  script: string,
  { files = {}, lines = [] }: { readonly files?: Files; readonly lines?: readonly string[] } = {},
): Promise<TestImage> {
  return buildImage(engine, 'simple', { ...simpleFiles(script), ...files }, [
    'FROM scratch',
    'COPY root/ /',
    'CMD ["/bin/sleep", "1000000"]',
    ...lines,
  ]);
}

/** The files of such an image. */
export const simpleFiles = (script: string): Files => ({
  'bin/busybox': { copyOf: BUSYBOX, mode: 0o755 },
  ...Object.fromEntries(APPLETS.map((name) => [`bin/${name}`, { linkTo: 'busybox' }])),
  'tmp/.keep': { bytes: '' },
  'run.sh': { bytes: script, mode: 0o755 },
});

const APPLETS = [
  ...['sh', 'sleep', 'cat', 'echo', 'printf', 'env', 'head', 'tail', 'tr', 'dd', 'yes', 'true'],
  ...['wget', 'nc', 'id', 'ls', 'mkdir', 'touch', 'kill', 'ps', 'ip', 'seq', 'sed', 'cut', 'wc'],
];

/** A program for Node: `files` are put under /app, which is the working directory. */
export async function nodeImage(
  engine: Engine,
  name: string,
  files: Files,
  entry: string,
  lines: readonly string[] = [],
): Promise<TestImage> {
  const base = await nodeBase(engine);
  const app = Object.entries(files).map(([path, file]) => [`app/${path}`, file] as const);
  return buildImage(engine, name, Object.fromEntries(app), [
    `FROM ${base.image}`,
    'COPY root/ /',
    'WORKDIR /app',
    'USER 10001:10001',
    `ENTRYPOINT ["/usr/bin/node", "/app/${entry}"]`,
    ...lines,
  ]);
}

/** All files of a folder, for an image; links become copies. */
export function filesOf(folder: string, under = ''): Files {
  const found: Record<string, TarFile> = {};
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, entry);
    if (statSync(path).isFile()) found[join(under, entry)] = { copyOf: realpathSync(path) };
  }
  return found;
}

/** The Node binary of the package with the libraries that it loads. */
function nodeBase(engine: Engine): Promise<TestImage> {
  const binary = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url));
  const libraries = execFileSync('ldd', [binary], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
  const files: Record<string, TarFile> = {
    'usr/bin/node': { copyOf: binary, mode: 0o755 },
    'etc/passwd': { bytes: 'contract:x:10001:10001::/app:/bin/sh\n' },
    'tmp/.keep': { bytes: '' },
  };
  for (const path of libraries) files[path.slice(1)] = { copyOf: realpathSync(path), mode: 0o755 };
  return buildImage(engine, 'node', files, ['FROM scratch', 'COPY root/ /']);
}

const REPOSITORY = 'platform-node-test';

/** Builds `root/` by a Dockerfile of these lines. */
export async function buildImage(
  engine: Engine,
  name: string,
  files: Files,
  dockerfile: readonly string[],
): Promise<TestImage> {
  const image = `${REPOSITORY}/${name}:${contentTag(files, dockerfile)}`;
  const known = await imageHashOf(engine, image);
  if (known !== undefined) return { image, imageHash: known };
  const root = Object.entries(files).map(([path, file]) => [`root/${path}`, file] as const);
  const context: Files = {
    Dockerfile: { bytes: `${dockerfile.join('\n')}\n` },
    ...Object.fromEntries(root),
  };
  const { status, body } = await engineCall(
    engine.socketPath,
    `/build?t=${encodeURIComponent(image)}&rm=1&forcerm=1`,
    { method: 'POST', pieces: tar(context), type: 'application/x-tar' },
  );
  const output = await text(body);
  const imageHash = await imageHashOf(engine, image);
  if (imageHash === undefined) throw new Error(`image ${name}: ${status} ${output.slice(-500)}`);
  return { image, imageHash };
}

export async function imageHashOf(engine: Engine, image: string): Promise<string | undefined> {
  const { status, body } = await engineCall(engine.socketPath, `/images/${image}/json`);
  const { Id } = (await json(body)) as { Id?: string };
  return status === 200 ? Id?.replace('sha256:', '') : undefined;
}

/** Copies count by path, size and time, because reading a hundred megabytes takes a while. */
function contentTag(files: Files, dockerfile: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(dockerfile));
  for (const [path, file] of Object.entries(files)) {
    hash.update(`\0${path}\0`);
    if ('linkTo' in file) hash.update(file.linkTo);
    else if ('bytes' in file) hash.update(file.bytes);
    else {
      const { size, mtimeMs } = statSync(file.copyOf);
      hash.update(`${file.copyOf} ${size} ${mtimeMs}`);
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** A program without an interpreter names no loader. */
function isStatic(path: string): boolean {
  return !readFileSync(path).subarray(0, 4096).includes('/ld-linux');
}
