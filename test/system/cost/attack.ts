/** One way to make a node work as much as its budgets allow, or to request more than that. */
import type { Seen, Target } from './target.ts';

export interface Attack {
  readonly name: string;
  /** Sends it and tells in a few words what the answers were. Ends what it has opened. */
  send(target: Target): Promise<string>;
}

/** What came of an attack. */
export interface Measured extends Pick<Seen, 'heldMs' | 'failed'> {
  readonly answers: string;
}

/** Begins an answer that shows that the node did not keep to its bounds. */
export const MISSED = 'MISSED';

/** The answers, marked where the bound was not kept. */
export const judged = (isKept: boolean, answers: string): string =>
  isKept ? answers : `${MISSED}: ${answers}`;

/** `200 ×3, 413`: how often each answer came. */
export function tally(answers: Iterable<string | number>): string {
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(String(answer), (counts.get(String(answer)) ?? 0) + 1);
  return [...counts]
    .sort()
    .map(([answer, count]) => (count === 1 ? answer : `${answer} ×${count}`))
    .join(', ');
}

export async function answerTo(url: string, init: RequestInit): Promise<string> {
  try {
    const answer = await fetch(url, init);
    await answer.arrayBuffer();
    return String(answer.status);
  } catch {
    return 'closed';
  }
}
