/**
 * Every link, path and citation has an existing target: in documents, in comments, in titles of
 * tests.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../..');
const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const documents = tracked.filter((file) => file.endsWith('.md') && !file.startsWith('vendor/'));
const sources = tracked.filter((file) => /^(src|test|bench|scripts|bin)\/.*\.(ts|js)$/.test(file));

t.test('links in documents', async (t) => {
  const dead = documents.flatMap((file) =>
    [...prose(read(file)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target) && !leads(file, target))
      .map((target) => `${file}: ${target}`),
  );
  t.strictSame(dead, []);
});

t.test('paths in documents and comments', async (t) => {
  const path = /(?<![\w./-])(?:src|test|bench|scripts|bin|docs|configs|man)\/[\w./*-]*[\w*]/g;
  const dead = [...documents, ...sources].flatMap((file) =>
    (file.endsWith('.md') ? prose(read(file)).split('\n') : comments(read(file)))
      .flatMap((line) => line.match(path) ?? [])
      .filter((found) => !exists(found))
      .map((found) => `${file}: ${found}`),
  );
  t.strictSame(dead, []);
});

t.test('files that comments name', async (t) => {
  const dead = sources.flatMap((file) =>
    comments(read(file))
      .flatMap((line) => line.match(/(?<![\w./<>*-])[\w-]+(?:\/[\w-]+)*(?:\.test)?\.ts\b/g) ?? [])
      .filter((name) => !tracked.some((path) => `/${path}`.endsWith(`/${name}`)))
      .map((name) => `${file}: ${name}`),
  );
  t.strictSame(dead, []);
});

t.test('pages and headings that comments name', async (t) => {
  const dead = sources.flatMap((file) =>
    comments(read(file))
      .flatMap((line) => line.match(/(?<![\w./-])[\w/-]+\.md\b(?:#[\w-]+)?/g) ?? [])
      .filter((target) => !pages(target))
      .map((target) => `${file}: ${target}`),
  );
  t.strictSame(dead, []);
});

t.test('hardening rules, scenarios and decisions', async (t) => {
  const known = new Set(
    ['docs/protocol/hardening.md', 'docs/protocol/scenarios.md', 'docs/decisions.md'].flatMap(
      (file) => [...read(file).matchAll(/^#+ (H-\d+|Scenario \d+|Decision \d+):/gm)].map(numbered),
    ),
  );
  const dead = [...sources, ...documents].flatMap((file) =>
    [...read(file).matchAll(/\b(H-\d+|[Ss]cenario \d+|[Dd]ecision \d+)\b/g)]
      .map(numbered)
      .filter((name) => !known.has(name))
      .map((name) => `${file}: ${name}`),
  );
  t.strictSame(dead, []);
});

t.test('no citation of a section that has no name', async (t) => {
  t.strictSame(
    [...sources, ...documents].filter((file) => read(file).includes('\u00a7')),
    [],
  );
});

t.test('every dependency has its reason', async (t) => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json')) as {
    dependencies: object;
    devDependencies: object;
  };
  const [installed = '', joined = '', development = ''] =
    read('docs/dependencies.md')
      .split('## The set')[0]
      ?.split(/### In the bundle|## For development/) ?? [];
  const named = (text: string) =>
    [...text.matchAll(/^\| (`.*?) \|/gm)]
      .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
      .sort();
  t.strictSame(named(installed), Object.keys(dependencies).sort());
  t.strictSame(named(joined + development), Object.keys(devDependencies).sort());
  // Our own uWebSockets.js loads the package.
  const loaded = named(installed + joined).map((name) =>
    name === 'uws-pack' ? 'uWebSockets.js' : name,
  );
  t.strictSame(imported(), loaded.sort(), 'the program imports what goes with it');
});

/** In import, require and createRequire(…)('…'). */
const LOADS =
  /(?: from |\bimport |\bimport\(\s*|\brequire\(|\bcreateRequire\([^)]*\)\(|\bmeta\.resolve\()'((?:@[^/']+\/)?[^./'$][^/']*)/g;

/** The packages that the sources of the program load. */
function imported(): string[] {
  const names = sources
    .filter((file) => /^(src|bin)\//.test(file))
    .flatMap((file) => [...read(file).matchAll(LOADS)])
    .map(([, name = '']) => name);
  return [...new Set(names)].filter((name) => !name.startsWith('node:')).sort();
}

function numbered([, name = '']: RegExpMatchArray): string {
  return name.toLowerCase();
}

/** Without blocks of code. */
function prose(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```/gm, '');
}

function comments(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => /^\s*(\/\*\*|\*|\/\/)/.test(line) || / \/\/ /.test(line));
}

function leads(from: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? from : normalize(join(dirname(from), path));
  return existsSync(join(root, file)) && (anchor === undefined || headings(file).has(anchor));
}

/** A page of docs/protocol may be named without its folder. */
function pages(target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = [path, `docs/protocol/${path}`, `docs/${path}`].find((at) => tracked.includes(at));
  return file !== undefined && (anchor === undefined || headings(file).has(anchor));
}

/** Anchors as code hosts make them from headings. */
function headings(file: string): Set<string> {
  return new Set(
    [...prose(read(file)).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

function exists(found: string): boolean {
  if (!found.includes('*')) return existsSync(join(root, found));
  const pattern = new RegExp(`^${found.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}`);
  return tracked.some((path) => pattern.test(path));
}
