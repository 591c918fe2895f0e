/** Pages for readers stay short, and what docs/architecture.md names is there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../..');
const read = (page: string): string => readFileSync(join(root, page), 'utf8');
const lineCount = (text: string): number => text.trimEnd().split('\n').length;

const PAGE_LINES_MAX = 250;
const GLOSSARY_LINES_MAX = 60;

for (const page of ['docs/performance.md', 'docs/reliability.md']) {
  t.test(`${page} is no diary`, async (t) => {
    t.ok(lineCount(read(page)) <= PAGE_LINES_MAX, `at most ${PAGE_LINES_MAX} lines`);
  });
}

t.test('the glossary is short, and in the order of the alphabet', async (t) => {
  const sections = read('docs/architecture.md')
    .split(/^(?=## )/m)
    .filter((section) => section.startsWith('## Glossary\n'));
  t.equal(sections.length, 1);
  const [section = ''] = sections;
  t.ok(lineCount(section) <= GLOSSARY_LINES_MAX, `at most ${GLOSSARY_LINES_MAX} lines`);
  const words = [...section.matchAll(/^\| ([^|(]+?)(?: \(.*?)? \|/gm)]
    .map(([, word = '']) => word)
    .slice(1);
  t.ok(words.length > 10);
  t.same(
    words,
    [...words].sort((one, other) => one.localeCompare(other, 'en')),
  );
});

t.test('the architecture names files that are there', async (t) => {
  const named = [...read('docs/architecture.md').matchAll(/`([\w./-]+\.ts)`/g)].map(
    ([, name = '']) => name,
  );
  t.ok(named.length > 50);
  t.same(
    named.filter((name) => !isThere(name)),
    [],
  );
});

t.test('the architecture has each folder of the sources in its map', async (t) => {
  const map = read('docs/architecture.md').match(/^\| Layer \|[\s\S]*?\n\n/m)?.[0] ?? '';
  const mapped = map.split('\n').flatMap((line) => {
    const [, , folders = ''] = line.split('|');
    return [...folders.matchAll(/`([\w-]+)`/g)].map(([, folder = '']) => folder);
  });
  t.same(mapped.sort(), readdirSync(join(root, 'src')).sort());
});

/** In a folder of sources the page leaves out `src`. */
const isThere = (name: string): boolean =>
  existsSync(join(root, name)) || existsSync(join(root, 'src', name));
