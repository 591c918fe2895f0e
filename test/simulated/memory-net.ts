/**
 * A network in memory (base/ports/network.ts) for tests and simulation: many hosts in one process, on the
 * caller's clock.
 *
 * A link behaves as TCP does: data of all streams of a connection arrive in the order of sending.
 * The fault model is called once for every message and every dial, so a run with a seeded model can
 * be repeated.
 */
import { MemoryConnection } from './memory-net/connection.ts';
import { MemoryHost } from './memory-net/host.ts';
import type { Delivery, Fate, Link } from './memory-net/link.ts';

export type { MemoryHost } from './memory-net/host.ts';
export type { Delivery, Fate } from './memory-net/link.ts';

export interface MemoryNetOptions {
  /** Runs `action` after so many milliseconds. */
  readonly after: (ms: number, action: () => void) => unknown;
  readonly faults?: (delivery: Delivery) => Fate;
}

export interface MemoryNet {
  /** The network as one host sees it; the name serves as its address. */
  host(name: string): MemoryHost;
}

const NO_FAULTS = (): Fate => ({});
const DIAL = { protocol: '', message: new Uint8Array(0) };

export function createMemoryNet(options: MemoryNetOptions): MemoryNet {
  const { after, faults = NO_FAULTS } = options;
  const hosts = new Map<string, MemoryHost>();
  let identities = 0;

  const link = (from: string, to: string): Link => ({
    after,
    fate: (protocol, message) => faults({ from, to, protocol, message }),
  });

  function connect(caller: MemoryHost, host: string, port: number, signal: AbortSignal) {
    return new Promise<MemoryConnection>((resolve, reject) => {
      signal.throwIfAborted();
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      const there = faults({ from: caller.name, to: host, ...DIAL });
      if (there.lost === true) return;
      after(there.delayMs ?? 0, () => {
        if (signal.aborted) return;
        const back = faults({ from: host, to: caller.name, ...DIAL });
        const listener = hosts.get(`${host}:${port}`);
        if (listener === undefined || !listener.hasRoom()) {
          const refused = new Error(`${host}:${port} refuses connections`);
          if (back.lost !== true) after(back.delayMs ?? 0, () => reject(refused));
          return;
        }
        const [near, far] = MemoryConnection.pair(
          { host: caller, link: link(caller.name, host) },
          { host: listener, link: link(host, caller.name) },
          port,
        );
        listener.add(far);
        listener.incoming(far);
        if (back.lost === true) return;
        after(back.delayMs ?? 0, () => {
          if (signal.aborted || caller.isGone()) {
            near.abort();
            return;
          }
          caller.add(near);
          resolve(near);
        });
      });
    });
  }

  return {
    host: (name) =>
      new MemoryHost(name, new TextEncoder().encode(`${name} ${++identities}`), {
        connect,
        bind(host, port) {
          const place = `${host.name}:${port}`;
          if (hosts.has(place)) throw new Error(`${place} is in use`);
          hosts.set(place, host);
          return () => void hosts.delete(place);
        },
      }),
  };
}
