/**
 * The cost of operations in processor time: of the server, its clients and all their helpers. It
 * adds what wall time cannot show on a machine with few processors.
 */
import { cpuSecondsOf } from './cpu.ts';

/** Seconds of all processes of this program for one operation. */
export async function withCost<T extends { readonly answers: number }>(
  run: () => Promise<T>,
): Promise<T & { readonly costPerOperation: number }> {
  const before = cpuSecondsOf(process.pid);
  const result = await run();
  const seconds = cpuSecondsOf(process.pid) - before;
  return { ...result, costPerOperation: seconds / result.answers };
}
