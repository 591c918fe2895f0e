// Completes the lock files. A registry may lack the optional packages of some platforms; npm then
// leaves them out of the lock file, and `npm ci` refuses the file it has just written. Each missing
// package gets an entry that npm skips on every other platform.
import { readFileSync, writeFileSync } from 'node:fs';

/** The project's own, and that of what the benchmark compares the node with. */
export const LOCK_FILES = ['package-lock.json', 'bench/package-lock.json'];

export interface LockEntry {
  version?: string;
  optional?: boolean;
  extraneous?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  [key: string]: unknown;
}

export interface LockFile {
  packages: Record<string, LockEntry>;
  [key: string]: unknown;
}

export interface Missing {
  name: string;
  version: string;
  askedBy: string;
}

const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'sunos',
  'win32',
];
const processors = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'x64',
];
/** Names of other trades for the same processors. */
const alsoKnownAs: Readonly<Record<string, string>> = {
  amd64: 'x64',
  x86_64: 'x64',
  aarch64: 'arm64',
};

/** Optional dependencies that the lock file names but has no entry for. */
export function missingOptional(lock: LockFile): Missing[] {
  const missing = new Map<string, Missing>();
  for (const [askedBy, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (!isLocked(lock, askedBy, name)) missing.set(name, { name, version, askedBy });
    }
  }
  return [...missing.values()];
}

/** The lock file with an entry for every missing optional dependency and without strays. */
export function complete(lock: LockFile): LockFile {
  const packages = Object.entries(lock.packages).filter(([, entry]) => !entry.extraneous);
  for (const { name, version } of missingOptional(lock)) {
    if (!/^\d+\.\d+\.\d+/.test(version)) {
      throw new Error(`${name}: the range ${version} does not tell which version to lock`);
    }
    packages.push([`node_modules/${name}`, { version, ...platformOf(name), optional: true }]);
  }
  packages.sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...lock, packages: Object.fromEntries(packages) };
}

/** The walk of Node's resolution: from the package's own node_modules up to the root's. */
function isLocked(lock: LockFile, askedBy: string, name: string): boolean {
  let folder = askedBy;
  while (true) {
    if (lock.packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`]) return true;
    if (folder === '') return false;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')));
  }
}

function platformOf(name: string): Pick<LockEntry, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[-/.]/).map((word) => alsoKnownAs[word] ?? word);
  const os = systems.filter((system) => words.includes(system));
  const cpu = processors.filter((processor) => words.includes(processor));
  if (os.length === 0) throw new Error(`${name}: its name tells no operating system`);
  const libc = ['musl', 'glibc'].filter((library) => words.includes(library));
  return { os, ...(cpu.length > 0 && { cpu }), ...(libc.length > 0 && { libc }) };
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  for (const file of LOCK_FILES) {
    const lock = JSON.parse(readFileSync(file, 'utf8')) as LockFile;
    for (const { name, askedBy } of missingOptional(lock)) {
      console.log(`${file}: + ${name} (for ${askedBy})`);
    }
    writeFileSync(file, `${JSON.stringify(complete(lock), null, 2)}\n`);
  }
}
