/**
 * All problems of a configuration at once. Each one names the source, the key, the value, the
 * expected form and, where known, the fix.
 */
export interface Problem {
  /** The file (with the line where it is known), the variable or the flag. */
  readonly source: string;
  readonly key: string;
  /** The given value; absent where there is none, or where it is secret. */
  readonly value?: string;
  readonly expected: string;
  readonly fix?: string;
}

/** The source of a setting by its key. */
export type SourceOf = (key: string) => string;

/** Records a problem; the value is left out where it is secret or absent. */
export type Report = (
  key: string,
  value: string | undefined,
  expected: string,
  fix: string,
) => void;

/** What the check finds. `section` stands before its keys. */
export function problemsOf(
  given: SourceOf,
  section: string,
  check: (wrong: Report) => void,
): Problem[] {
  const problems: Problem[] = [];
  check((name, value, expected, fix) => {
    const key = `${section}${name}`;
    const shown = value === undefined ? {} : { value };
    problems.push({ source: given(key), key, ...shown, expected, fix });
  });
  return problems;
}

export function problemText(problem: Problem): string {
  const { source, key, value, expected, fix } = problem;
  const subject = value === undefined ? key : `${key} = ${value}`;
  return `${source}: ${subject}: ${expected}${fix === undefined ? '' : ` (${fix})`}`;
}

/** A configuration that cannot be used. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** Those of the warnings that name a key that nobody knows, or an include that is missing. */
  readonly unknown: readonly string[];

  constructor(
    problems: readonly Problem[],
    heading = 'The configuration has errors:',
    warnings: readonly string[] = [],
    unknown: readonly string[] = [],
  ) {
    super([heading, ...problems.map((problem) => `  ${problemText(problem)}`)].join('\n'));
    this.problems = problems;
    this.warnings = warnings;
    this.unknown = unknown;
  }
}
