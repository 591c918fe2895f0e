/** The page about the guards, docs/guards.md. */
import { type Guard, nameOf } from './guards.ts';
import { reasons } from './reasons.ts';
import type { Results } from './results.ts';

const HEAD = `# Guards

Each line that refuses a block, a transaction, a result of a contract or confidential data, and the test that
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

function rowOf(guard: Guard, results: Results): string {
  const killer = results.lastKiller(guard);
  const reason = reasons.get(nameOf(guard)) ?? 'not found yet';
  const by = killer === undefined ? `none: ${reason}` : `${killer.file}: ${cell(killer.test)}`;
  return `| ${guard.where} | ${code(guard.text)} | ${by} |`;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

/** With as many backquotes around as the text does not have within. */
const code = (text: string): string => `\`\` ${cell(text)} \`\``;
