/**
 * The Debian package: the content of the npm tarball, its dependencies and the Node that runs this
 * script, below /usr/lib/platform-node; command, unit, manual pages, completion, and documents where
 * Debian expects them. Scripts and files of /etc are in the folder `debian`.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { copyProductionTree } from './production.ts';

/** The newest symbols that Node and the addons ask for: those of Debian 12 and Ubuntu 22.04. */
export const GLIBC = '2.34';
const DEPENDS = `libc6 (>= ${GLIBC}), libstdc++6 (>= 11), libgcc-s1, passwd`;
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

const OWN = join(import.meta.dirname, 'debian');
const HOME = 'usr/lib/platform-node';
const DOCUMENTS = 'usr/share/doc/platform-node';
const COMPLETIONS = {
  bash: 'usr/share/bash-completion/completions/platform-node',
  zsh: 'usr/share/zsh/vendor-completions/_platform-node',
  fish: 'usr/share/fish/vendor_completions.d/platform-node.fish',
};

export interface Release {
  /** The checkout, for its lock file and node_modules. */
  readonly root: string;
  readonly tarball: string;
  /** Where the package is written. */
  readonly out: string;
  /** The time of all files. */
  readonly seconds: number;
  /** Of the compression; 0: none. */
  readonly level: number;
}

interface Manifest {
  readonly version: string;
  readonly description: string;
  readonly author: string;
}

/** Why no package can be built here; undefined where one can. */
export function whyNoPackage(): string | undefined {
  if (process.platform !== 'linux' || architecture() === undefined) {
    return `Debian has no name for ${process.platform}-${process.arch}`;
  }
  try {
    execFileSync('dpkg-deb', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'there is no dpkg-deb (Debian: apt install dpkg)';
  }
}

/** Returns the path of the package. */
export function buildPackage({ root, tarball, out, seconds, level }: Release): string {
  const temporary = mkdtempSync(join(tmpdir(), 'platform-node-deb-'));
  try {
    const tree = join(temporary, 'tree');
    const home = join(tree, HOME);
    mkdirSync(home, { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', home]);
    copyProductionTree(root, home);
    put(process.execPath, join(home, 'bin/node'));
    placeDocuments(tree);
    put(join(OWN, 'command'), join(tree, 'usr/bin/platform-node'));
    placeCompletions(tree);
    placeUnit(tree);
    for (const name of ['node.conf', 'environment']) {
      put(join(OWN, name), join(tree, 'etc/platform-node', name));
    }
    const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest;
    placeControl(tree, manifest);
    settle(tree, seconds);
    const { version } = manifest;
    const deb = join(out, `platform-node_${debianVersion(version)}_${architecture()}.deb`);
    const compression = level === 0 ? ['-Znone'] : ['-Zxz', `-z${level}`];
    execFileSync('dpkg-deb', ['--root-owner-group', ...compression, '--build', tree, deb], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return deb;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

const architecture = (): string | undefined => ARCHITECTURES[process.arch];

/** For Debian `1.2.0-rc.1` would be later than `1.2.0`. */
const debianVersion = (version: string): string => version.replace('-', '~');

/** Documents keep their places to each other, so that their links lead somewhere. */
function placeDocuments(tree: string): void {
  const from = (name: string): string => join(tree, HOME, name);
  for (const name of readdirSync(from('man'))) {
    const section = name.split('.').at(-1);
    const page = join(tree, `usr/share/man/man${section}`, `${name}.gz`);
    put(from(`man/${name}`), page);
    writeFileSync(page, gzipSync(readFileSync(page), { level: 9 }));
  }
  rmSync(from('man'), { recursive: true });
  mkdirSync(join(tree, DOCUMENTS), { recursive: true });
  for (const name of ['docs', 'configs', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE']) {
    renameSync(from(name), join(tree, DOCUMENTS, name));
  }
  const licence = `platform-node is under the Apache License 2.0, which LICENSE has. The packages in
/${HOME}/node_modules have their licences with them; those that are joined into the program have
theirs in /${HOME}/dist/code/LICENCES.md. /${HOME}/bin/node is Node.js, under the MIT licence (https://github.com/nodejs/node/blob/main/LICENSE).
`;
  writeFileSync(join(tree, DOCUMENTS, 'copyright'), licence);
}

/** As the packed command prints them. */
function placeCompletions(tree: string): void {
  for (const [shell, path] of Object.entries(COMPLETIONS)) {
    const command = join(tree, HOME, 'dist/bin/platform-node.js');
    const script = execFileSync(process.execPath, [command, 'completion', shell]);
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), script);
  }
}

function placeUnit(tree: string): void {
  const unit = 'systemd/platform-node.service';
  const shipped = join(tree, DOCUMENTS, 'configs', unit);
  put(shipped, join(tree, 'usr/lib/systemd/system/platform-node.service'));
}

function placeControl(tree: string, { version, author, description }: Manifest): void {
  const control = join(tree, 'DEBIAN');
  cpSync(join(OWN, 'scripts'), control, { recursive: true });
  const kilobytes = Math.ceil(bytesOf(tree) / 1024);
  const fields = [
    'Package: platform-node',
    `Version: ${debianVersion(version)}`,
    `Architecture: ${architecture()}`,
    `Maintainer: ${author}`,
    `Installed-Size: ${kilobytes}`,
    `Depends: ${DEPENDS}`,
    'Section: net',
    'Priority: optional',
    `Description: ${description.replace(/^A /, '')}`,
    ` It runs on Node ${process.versions.node}, which the package contains.`,
  ];
  writeFileSync(join(control, 'control'), `${fields.join('\n')}\n`);
  // What operators change there stays theirs in an upgrade.
  const conffiles = ['node.conf', 'environment'].map((name) => `/etc/platform-node/${name}\n`);
  writeFileSync(join(control, 'conffiles'), conffiles.join(''));
}

/** Modes and times do not depend on who builds, and when. */
function settle(path: string, seconds: number): void {
  const stat = lstatSync(path);
  if (stat.isDirectory()) {
    for (const name of readdirSync(path)) settle(join(path, name), seconds);
    chmodSync(path, 0o755);
  } else if (stat.isFile()) {
    chmodSync(path, modeOf(path));
  }
  lutimesSync(path, seconds, seconds);
}

function modeOf(path: string): number {
  if (path.endsWith('/etc/platform-node/environment')) return 0o600;
  if (path.endsWith('/etc/platform-node/node.conf')) return 0o640;
  const isProgram = /\/(usr\/bin|bin|DEBIAN)\/(platform-node|node|p(re|ost)(inst|rm))$/.test(path);
  return isProgram || path.endsWith('/dist/bin/platform-node.js') ? 0o755 : 0o644;
}

function bytesOf(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

function put(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
