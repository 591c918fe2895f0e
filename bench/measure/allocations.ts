/** What functions allocate, garbage included, from the sampling heap profiler of V8. */
import { type HeapProfiler, Session } from 'node:inspector/promises';

const INTERVAL_BYTES = 4096;
const SHOWN = 60;

/** Runs the job; the result tells the bytes of the largest allocators, divided by a count. */
export async function allocationsDuring(
  job: () => Promise<unknown>,
): Promise<(count: number) => Record<string, number>> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: INTERVAL_BYTES,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  await job();
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  const sums = new Map<string, number>();
  const walk = ({ callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode): void => {
    const file = callFrame.url.replace(/.*\/(src|node_modules|bench)\//, '');
    const name = `${callFrame.functionName} ${file}:${callFrame.lineNumber + 1}`;
    sums.set(name, (sums.get(name) ?? 0) + selfSize);
    for (const child of children) walk(child);
  };
  walk(profile.head);
  return (count) => {
    const all = [...sums].map(([name, bytes]) => [name, Math.round(bytes / count)] as const);
    const largest = all.sort((a, b) => b[1] - a[1]).slice(0, SHOWN);
    return { all: all.reduce((sum, [, bytes]) => sum + bytes, 0), ...Object.fromEntries(largest) };
  };
}
