/**
 * How many containers the machine of the engine takes, and how much one of them weighs there. A
 * hostile contract uses all that its container may have, whether it is called or not.
 */
import { contractLimits } from '../../base/limits/contract-limits.ts';
import type { EngineMachine } from './engine-answers.ts';

export interface Capacity {
  /** Those included that are being removed. */
  readonly containers: number;
  /** Those that the engine creates and starts at a time. */
  readonly starts: number;
  /** Weight of each when processors are short. */
  readonly cpuShares: number;
  /** Processors of each. */
  readonly cpus: number;
}

const MB = 1024 * 1024;
/** The engine takes no less. */
const SHARES_MIN = 2;

export function capacityOf(
  { memoryBytes, processors }: Pick<EngineMachine, 'memoryBytes' | 'processors'>,
  limits: { readonly memoryMb: number; readonly cpus: number },
): Capacity {
  const { containers, memoryShare, perProcessor, cpuShares, perStart } = contractLimits;
  const byMemory = memoryBytes / memoryShare.value / (limits.memoryMb * MB);
  const cpus = Math.min(limits.cpus, processors);
  const byProcessors = (processors * perProcessor.value) / cpus;
  const most = Math.max(1, Math.floor(Math.min(containers.value, byMemory, byProcessors)));
  return {
    containers: most,
    starts: Math.max(1, Math.floor(processors / perStart.value)),
    cpuShares: Math.max(SHARES_MIN, Math.floor(cpuShares.value / most)),
    cpus,
  };
}
