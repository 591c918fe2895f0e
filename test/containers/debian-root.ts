/**
 * The root of a small Debian, made of the packages of this machine: those that every Debian has, what
 * Node loads, and what all of these depend on. So dpkg, and images that begin with a Debian, are tested
 * without the network and beside the system that the machine runs.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const DPKG = '/var/lib/dpkg';
/** What a node needs beside the essential packages. */
const ALSO = ['passwd', 'libstdc++6', 'libgcc-s1'];
/** Nobody reads there. */
const LEFT_OUT = /^usr\/(share\/(doc|man|locale|info|zoneinfo|lintian)|lib\/locale)\//;

/** Why there is no such root here; undefined where there is. */
export function whyNoDebian(): string | undefined {
  if (process.getuid?.() !== 0) return 'dpkg installs as root only';
  return existsSync(join(DPKG, 'status')) ? undefined : 'the machine is no Debian';
}

interface Installed {
  readonly name: string;
  /** As the file of dpkg has it. */
  readonly paragraph: string;
  readonly isEssential: boolean;
  readonly needs: readonly string[];
  readonly provides: readonly string[];
}

export function makeDebianRoot(root: string): void {
  const chosen = closure(installed());
  mkdirSync(join(root, DPKG, 'info'), { recursive: true });
  mkdirSync(join(root, DPKG, 'updates'));
  const infos = readdirSync(join(DPKG, 'info'));
  const paths = new Set<string>();
  for (const { name } of chosen) {
    for (const info of infos.filter((one) => one.replace(/(:\w+)?\.\w+$/, '') === name)) {
      const file = join(DPKG, 'info', info);
      copyFileSync(file, join(root, file));
      if (info.endsWith('.list')) for (const path of pathsOf(file)) paths.add(path);
    }
  }
  writeFileSync(
    join(root, DPKG, 'status'),
    `${chosen.map(({ paragraph }) => paragraph).join('\n\n')}\n\n`,
  );
  writeFileSync(join(root, DPKG, 'available'), '');
  // Links of the top, such as bin, come before what is reached through them, and lead somewhere.
  for (const name of ['bin', 'sbin', 'lib', 'lib64'])
    mkdirSync(join(root, 'usr', name), { recursive: true });
  const list = [...paths].filter((path) => !LEFT_OUT.test(path) && isThere(path)).sort();
  const packed = ['--create', '--no-recursion', '--directory=/', '--null', '--files-from=-'];
  const archive = execFileSync('tar', packed, {
    input: list.join('\0'),
    maxBuffer: 1024 ** 3,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  execFileSync('tar', ['--extract', '--directory', root], { input: archive });
  for (const name of ['passwd', 'group']) {
    copyFileSync(`/usr/share/base-passwd/${name}.master`, join(root, 'etc', name));
  }
  for (const name of ['dev', 'proc', 'tmp']) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, 'dev/null'), '');
}

const pathsOf = (list: string): string[] =>
  readFileSync(list, 'utf8')
    .split('\n')
    .map((path) => path.slice(1))
    .filter((path) => path !== '' && path !== '.');

function isThere(path: string): boolean {
  return lstatSync(`/${path}`, { throwIfNoEntry: false }) !== undefined;
}

function installed(): Installed[] {
  return readFileSync(join(DPKG, 'status'), 'utf8')
    .split('\n\n')
    .filter((paragraph) => paragraph.includes('\nStatus: install ok installed'))
    .map((paragraph) => {
      const field = (name: string): string =>
        new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1] ?? '';
      const clauses = [field('Pre-Depends'), field('Depends')].flatMap((one) => one.split(','));
      return {
        name: field('Package'),
        paragraph,
        isEssential: field('Essential') === 'yes',
        needs: clauses.filter((one) => one.trim() !== ''),
        provides: field('Provides').split(',').map(bare),
      };
    });
}

/** Without version and architecture. */
const bare = (name: string): string => name.trim().replace(/[ :(].*$/, '');

function closure(all: readonly Installed[]): Installed[] {
  const find = (name: string): Installed | undefined =>
    all.find((one) => one.name === name) ?? all.find(({ provides }) => provides.includes(name));
  const chosen = new Set<Installed>();
  const left = all.filter(({ name, isEssential }) => isEssential || ALSO.includes(name));
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (chosen.has(one)) continue;
    chosen.add(one);
    for (const clause of one.needs) {
      const found = clause
        .split('|')
        .map(bare)
        .map(find)
        .find((each) => each !== undefined);
      if (found !== undefined) left.push(found);
    }
  }
  return [...chosen];
}
