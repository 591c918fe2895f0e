/** Priorities of threads, as Linux tells them. */
import { readdirSync, readFileSync } from 'node:fs';

const TASKS = '/proc/self/task';
const NICE = 16;

/** The nice values of all threads of this process. */
export const niceValues = (): number[] =>
  readdirSync(TASKS).map((id) => {
    const stat = readFileSync(`${TASKS}/${id}/stat`, 'latin1');
    // The name of the thread, which may have spaces, is in parentheses.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[NICE]);
  });
