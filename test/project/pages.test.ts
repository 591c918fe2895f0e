/** Pages for readers stay short, name files that are there, and give the words of what they cite. */
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

t.test('the number of a rule or a decision is followed by its words', async (t) => {
  const headings = ['docs/protocol/hardening.md', 'docs/decisions.md'].flatMap((page) =>
    [...read(page).matchAll(/^## (H-\d+|Decision \d+): (.+)$/gm)].map(([, name = '', words = '']) =>
      `${name}: ${words}`.toLowerCase(),
    ),
  );
  const cited = pages().flatMap((page) =>
    [...joined(read(page)).matchAll(/\(((?:H-|[Dd]ecision )\d+\b[^()]*(?:\([^()]*\)[^()]*)?)\)/g)]
      .flatMap(([, text = '']) => text.split('; '))
      .map((citation) => ({ page, citation })),
  );
  t.ok(cited.length > 50);
  t.same(
    cited.filter(({ citation }) => !headings.includes(citation.toLowerCase())),
    [],
    'as its heading has them',
  );
});

/** Pages for readers; generated ones cite titles of tests. */
const pages = (): string[] =>
  ['docs', 'docs/guide', 'docs/protocol']
    .flatMap((folder) => readdirSync(join(root, folder)).map((file) => `${folder}/${file}`))
    .filter((file) => file.endsWith('.md') && file !== 'docs/guards.md')
    .filter((file) => file !== 'docs/protocol/README.md');

/** A citation may go on in the next line. */
const joined = (text: string): string => text.replaceAll(/\n\s*/g, ' ');
