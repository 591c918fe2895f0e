/**
 * Guards that no test can miss, with the reason. Each must exist, and must survive: a reason for a
 * guard that a test does notice is out of date.
 */
import { type Guard, nameOf } from './guards.ts';

/** By the name of the guard. */
export const reasons: ReadonlyMap<string, string> = new Map([]);

export function reasonsInVain(
  guards: readonly Guard[],
  isKilled: (guard: Guard) => boolean,
): readonly string[] {
  const byName = new Map(guards.map((guard) => [nameOf(guard), guard]));
  return [...reasons.keys()].flatMap((name) => {
    const guard = byName.get(name);
    if (guard === undefined) return [`there is no such guard any more: ${name}`];
    return isKilled(guard) ? [`a test notices, so no reason is needed: ${name}`] : [];
  });
}
