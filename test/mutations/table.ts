/** The page about the guards, docs/guards.md. */
import { type Guard, nameOf } from './guards.ts';
import { reasons } from './reasons.ts';
import type { Results } from './results.ts';

const HEAD = `# Guards

Each line that refuses a block, a transaction, a vote, a result of a contract or confidential data, and the test that
fails when this line alone is taken out. \`npm run test:mutations\` finds them and writes this page; see
[reliability.md](reliability.md#guards).

`;

export function tableOf(guards: readonly Guard[], results: Results): string {
  const files = [...new Set(guards.map(({ file }) => file))];
  const parts = files.map((file) => {
    const own = guards.filter((guard) => guard.file === file);
    const rows = own.map((guard) => rowOf(guard, results));
    return `## ${file}\n\n| In | Guard | Test that fails without it |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return HEAD + parts.join('\n');
}

/** What a page says: the test files that noticed when these guards were taken out. */
export function namedTests(page: string, guards: readonly Guard[]): Map<Guard, string> {
  const lines = page.split('\n');
  const named = new Map<Guard, string>();
  for (const guard of guards) {
    const begin = lines.indexOf(`## ${guard.file}`);
    const row = lines.slice(begin).find((line) => line.startsWith(startOf(guard)));
    const file = row?.slice(startOf(guard).length).match(/^(test\/\S+\.test\.ts): /)?.[1];
    if (begin >= 0 && file !== undefined) named.set(guard, file);
  }
  return named;
}

function rowOf(guard: Guard, results: Results): string {
  const killer = results.lastKiller(guard);
  const reason = reasons.get(nameOf(guard)) ?? 'not found yet';
  const by = killer === undefined ? `none: ${reason}` : `${killer.file}: ${cell(killer.test)}`;
  return `${startOf(guard)}${by} |`;
}

const startOf = (guard: Guard): string => `| ${guard.where} | ${code(guard.text)} | `;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

/** With as many backquotes around as the text does not have within. */
const code = (text: string): string => `\`\` ${cell(text)} \`\``;
