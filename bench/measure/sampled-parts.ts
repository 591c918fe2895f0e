/** Sorts the samples of `perf script` into the parts of a program. */

export const REST = 'everything else';

/**
 * The share of each part, largest first. A sample belongs to the part whose pattern matches the
 * innermost of its frames.
 */
export function partsOf(
  script: string,
  parts: readonly (readonly [part: string, frames: RegExp])[],
): [part: string, share: number][] {
  const counts = new Map<string, number>();
  const samples = script.split(/\n\s*\n/).filter((sample) => sample.trim() !== '');
  for (const sample of samples) {
    const part = partOf(sample.split('\n'), parts);
    counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  return [...counts]
    .map(([part, count]): [string, number] => [part, count / samples.length])
    .sort((a, b) => b[1] - a[1]);
}

function partOf(
  frames: readonly string[],
  parts: readonly (readonly [part: string, frames: RegExp])[],
): string {
  for (const frame of frames) {
    const found = parts.find(([, pattern]) => pattern.test(frame));
    if (found !== undefined) return found[0];
  }
  return REST;
}
