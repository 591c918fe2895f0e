/**
 * Joins the sources with the packages that they load. A start would otherwise spend most of its time
 * on finding, reading and linking a thousand modules. Types are stripped and not checked.
 *
 * Run as a program it makes the bundle of this checkout, which bin/load-bundle.cjs runs until a
 * source changes. scripts/build.ts makes that of the published package.
 */
import { randomUUID } from 'node:crypto';
import { globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';

/** What bin/kept-bundle.cjs exports. */
interface Kept {
  readonly root: string;
  readonly folder: string;
  readonly list: string;
  stampOf(path: string): readonly number[];
}

/** The list of a bundle: JSON that bin/kept-bundle.cjs reads. */
interface KeptBundle {
  readonly root: string;
  /** The folder of its files. */
  readonly place: string;
  /** The paths of the sources below the root, each with what `stampOf` gave for it. */
  readonly stamps: readonly (readonly [string, ...number[]])[];
  /** From the URLs of the sources that a process or a thread begins with to those of their files. */
  readonly entries: Readonly<Record<string, string>>;
}

export interface BundleOptions {
  readonly root: string;
  /** Where the files would lie; nothing is written there. */
  readonly place: string;
  /** What `import.meta.url` is in a source, a path below the root: an expression. */
  readonly urlOf: (source: string) => string;
  /** Told of each file outside the packages before it is read. */
  readonly onSource?: (source: string) => void;
  /** With maps to the sources, for debuggers. */
  readonly isMapped?: boolean;
}

export interface Bundle {
  /** All lie in one folder. */
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  /** The sources that a process or a thread begins with, and the names of their files. */
  readonly entries: Readonly<Record<string, string>>;
  /** Paths below the root of all that was joined. */
  readonly inputs: readonly string[];
  /** The packages that stay outside. */
  readonly packages: readonly string[];
}

/** Of the command and of its threads. */
const ENTRIES = ['bin/platform-node.ts', 'src/**/*worker.ts'];
/** Packages with addons, or with files that they look for beside their code. */
const APART = ['@electric-sql/pglite', 'lmdb', 'pg-native', 'sodium-native', 'uWebSockets.js'];
/** A path from the root; the checkout itself may lie in a folder of packages. */
const OF_PACKAGE = /(^|\/)node_modules\//;
/** Of a package, before the path of one of its files. */
const NAME = /^(@[^/]+\/)?[^/]+/;
/** Packages in CommonJS call it. */
const REQUIRE = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`;
/** So many bundles stay, and younger ones. */
const KEPT = 8;
const KEPT_MS = 24 * 60 * 60 * 1000;
/** Also the list of one that was not finished. */
const MADE = /^[0-9a-f-]{36}(\.json)?$/;

/** Rejects where a source cannot be read. */
export async function bundle(options: BundleOptions): Promise<Bundle> {
  const { root, place, isMapped = false } = options;
  const entries = Object.fromEntries(
    globSync(ENTRIES, { cwd: root }).map((source) => [source, nameOf(source)]),
  );
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.entries(entries).map(([source, name]) => ({
      in: source,
      out: basename(name, '.mjs'),
    })),
    outdir: place,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    // As Node strips types: without what a tsconfig says.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    external: APART,
    banner: { js: REQUIRE },
    sourcemap: isMapped && 'linked',
    sourcesContent: false,
    plugins: [sourcesOf(options)],
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  return {
    files: outputFiles.map(({ path, contents }) => ({ name: basename(path), bytes: contents })),
    entries,
    inputs: Object.keys(metafile.inputs).sort(),
    packages: packagesOf(metafile),
  };
}

function packagesOf({ outputs }: Metafile): string[] {
  const imports = Object.values(outputs).flatMap((output) => output.imports);
  const outside = imports.filter(({ path, external }) => external && /^[@\w]/.test(path));
  const names = outside.map(({ path }) => NAME.exec(path)?.[0] ?? path);
  return [...new Set(names)].filter((name) => !isBuiltin(name)).sort();
}

const nameOf = (source: string): string => `${source.slice(0, -3).replaceAll('/', '.')}.mjs`;

/** Sources keep the addresses from which they look for files beside them. */
const sourcesOf = ({ root, place, urlOf, onSource }: BundleOptions): Plugin => ({
  name: 'sources',
  setup({ onLoad, onResolve }) {
    const manifest = join(root, 'package.json');
    onResolve({ filter: /\/package\.json$/ }, ({ path, resolveDir }) =>
      join(resolveDir, path) === manifest
        ? { path: relative(place, manifest), external: true }
        : undefined,
    );
    // In a bundle, one in CommonJS would lose the names of its exports.
    onResolve({ filter: /^[^.]/ }, ({ path, kind, importer }) =>
      kind === 'dynamic-import' && !OF_PACKAGE.test(relative(root, importer))
        ? { path, external: true }
        : undefined,
    );
    onLoad({ filter: /./ }, async ({ path }) => {
      const source = relative(root, path);
      if (OF_PACKAGE.test(source)) return undefined;
      onSource?.(source);
      if (!path.endsWith('.ts')) return undefined;
      const text = await readFile(path, 'utf8');
      return { contents: text.replaceAll('import.meta.url', () => urlOf(source)), loader: 'ts' };
    });
  },
});

async function bundleCheckout(): Promise<void> {
  const load = createRequire(import.meta.url);
  const { root, folder, list, stampOf }: Kept = load('../bin/kept-bundle.cjs');
  const place = join(folder, randomUUID());
  const stamps: (readonly [string, ...number[]])[] = [];
  const stamp = (path: string): void => void stamps.push([path, ...stampOf(path)]);
  for (const path of ['node_modules/.package-lock.json', 'package.json', 'scripts/bundle.ts']) {
    stamp(path);
  }
  const urlOf = (path: string): string => pathToFileURL(path).href;
  const { files, entries } = await bundle({
    root,
    place,
    urlOf: (source) => JSON.stringify(urlOf(join(root, source))),
    onSource: stamp,
    isMapped: true,
  });
  const fresh = `${place}.json`;
  mkdirSync(folder, { recursive: true });
  removeEarlier(folder);
  try {
    mkdirSync(place, { recursive: true });
    await Promise.all(files.map(({ name, bytes }) => writeDurably(join(place, name), bytes)));
    const kept: KeptBundle = {
      root,
      place,
      stamps,
      entries: Object.fromEntries(
        Object.entries(entries).map(([source, name]) => [
          urlOf(join(root, source)),
          urlOf(join(place, name)),
        ]),
      ),
    };
    await writeDurably(fresh, JSON.stringify(kept));
    renameSync(fresh, list);
  } catch (cause) {
    for (const path of [place, fresh]) rmSync(path, { recursive: true, force: true });
    throw cause;
  }
}

/** A loss of power leaves no half of a bundle that the list names. */
const writeDurably = (path: string, content: string | Uint8Array): Promise<void> =>
  writeFile(path, content, { flush: true });

/** A process that runs an earlier one loads parts of it when it needs them. */
function removeEarlier(folder: string): void {
  const bundles = readdirSync(folder)
    .filter((name) => MADE.test(name))
    .map((name) => join(folder, name))
    .map((path) => ({ path, made: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.made - a.made);
  for (const { path, made } of bundles.slice(KEPT)) {
    if (made < Date.now() - KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) await bundleCheckout();
