/**
 * Under which kernel a lock was made, as a part of its name. Nobody answers on the socket of another
 * kernel, whether its process lives or not.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

export interface Kernel {
  /** Of the present boot; undefined where the system has no number for it. */
  readonly boot: string | undefined;
  /** Of the machine; undefined in most containers. */
  readonly machine: string | undefined;
  readonly bootedAtMs: number;
}

const UNKNOWN = 'unknown';
/** Before the first start of a system the file may hold a word. */
const MACHINE_ID = /^[0-9a-f]{32}$/;
const ORIGIN = /-([0-9a-f]{8})-([0-9a-f]{8}|unknown)$/;

export const thisKernel = (): Kernel => ({
  boot: digestOf('/proc/sys/kernel/random/boot_id'),
  machine: digestOf('/etc/machine-id', MACHINE_ID),
  bootedAtMs: Date.now() - uptime() * 1000,
});

/** The end of the name of a lock. */
export const originOf = ({ boot, machine = UNKNOWN }: Kernel): string =>
  boot === undefined ? '' : `-${boot}-${machine}`;

/** Whether a lock on which nobody answers may be that of a process under another kernel. */
export function isForeign(name: string, madeAtMs: number, here: Kernel): boolean {
  const [, boot, machine = UNKNOWN] = ORIGIN.exec(name) ?? [];
  // Earlier releases do not say it.
  if (boot === undefined || boot === here.boot) return false;
  if (machine !== UNKNOWN && here.machine !== undefined) return machine !== here.machine;
  return madeAtMs > here.bootedAtMs;
}

/** Undefined where the file is missing or holds something else. */
function digestOf(path: string, format = /./): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim();
    if (!format.test(text)) return undefined;
    return createHash('sha256').update(text).digest('hex').slice(0, 8);
  } catch {
    return undefined;
  }
}
