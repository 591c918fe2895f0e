/**
 * The problems of the search, each with the name `part/form`. A part is loaded where it is needed,
 * since some prepare a whole node.
 */
import type { Problem } from './problem.ts';

const parts: Readonly<Record<string, () => Promise<readonly Problem[]>>> = {
  script: async () => (await import('./script-problems.ts')).scriptProblems,
  source: async () => (await import('./source-problems.ts')).sourceProblems,
  pattern: async () => (await import('./pattern-problems.ts')).patternProblems,
  route: async () => (await import('./route-problems.ts')).routeProblems,
};

/** Those whose names begin so. */
export async function problemsOf(begin: string): Promise<readonly Problem[]> {
  const [wanted] = begin.split('/');
  const found: Problem[] = [];
  for (const [part, load] of Object.entries(parts)) {
    if (begin.includes('/') ? part === wanted : part.startsWith(begin))
      found.push(...(await load()));
  }
  return found.filter(({ name }) => name.startsWith(begin));
}

export async function problemOf(name: string): Promise<Problem> {
  const found = (await problemsOf(name)).find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no problem ${name}`);
  return found;
}
