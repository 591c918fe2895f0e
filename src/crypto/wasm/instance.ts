/** An instance of an assembled module: its functions and a memory of its own. */
import type { Assembler } from './assembler.ts';

export interface Instance<Functions> {
  readonly run: Functions;
  /** Never grows, so views on it stay valid. */
  readonly memory: ArrayBuffer;
}

/** The places in a memory that the code of a module refers to, one behind the other. */
export interface Places {
  /** The address of so many bytes. */
  take(bytes: number): number;
}

const PAGE_BYTES = 65_536;

export function createPlaces(): Places {
  let next = 0;
  return {
    take(bytes) {
      next += bytes;
      return next - bytes;
    },
  };
}

export const compile = (module: Assembler): WebAssemblyModule =>
  new WebAssembly.Module(module.assemble());

/** `Functions` are those that the module defines. The memory has at least so many bytes, all 0. */
export function createInstance<Functions>(
  compiled: WebAssemblyModule,
  bytes: number,
): Instance<Functions> {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const instance = new WebAssembly.Instance(compiled, { host: { memory } });
  return { run: instance.exports as unknown as Functions, memory: memory.buffer };
}
