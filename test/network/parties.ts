/** Nodes that consist of their sessions only; a set of registered keys replaces the chain. */

import { latin1 } from '../../src/base/bytes.ts';
import type { Clock } from '../../src/base/ports/clock.ts';
import type { Network } from '../../src/base/ports/network.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import type { KeyPair } from '../../src/crypto/family.ts';
import {
  Handshake,
  type HandshakeDeps,
  type OwnHello,
} from '../../src/network/sessions/handshake.ts';
import { Penalties } from '../../src/network/sessions/penalties.ts';
import type { Session } from '../../src/network/sessions/session.ts';
import {
  SessionRegistry,
  type SessionsOptions,
} from '../../src/network/sessions/session-registry.ts';
import { seededRandom } from '../crypto/random.ts';
import { family } from '../family.ts';
import { type MemoryLog, memoryLog } from '../node/memory-ports.ts';
import { createMemoryNet, type MemoryNetOptions } from '../simulated/memory-net.ts';

export { family };
export const scheme = createChainScheme(family, 'T'.charCodeAt(0));
const random = seededRandom('parties');

export const realClock: Clock = {
  now: () => Date.now(),
  system: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
  turn: () => new Promise((resolve) => setImmediate(resolve)),
  synchronized: () => true,
};

export interface Party {
  readonly keys: KeyPair;
  readonly owner: Uint8Array;
  readonly text: string;
  readonly network: Network;
  readonly handshake: Handshake;
  readonly sessions: SessionRegistry;
  readonly penalties: Penalties;
  readonly log: MemoryLog;
  readonly events: string[];
  readonly host: string;
  port: number;
  listen(): Promise<void>;
  dial(other: Party): Promise<Session>;
  stop(): Promise<void>;
}

export interface PartyOptions {
  readonly phrase?: string;
  readonly hello?: Partial<OwnHello>;
  readonly ports?: Partial<HandshakeDeps>;
  readonly sessions?: Partial<SessionsOptions>;
  readonly network?: Network;
  readonly host?: string;
  /** Hosts that its configuration names; `true`: all. */
  readonly configured?: boolean | readonly string[];
  /** Registers protocols. */
  readonly prepare?: (sessions: SessionRegistry) => void;
  /** Signs for this owner with a key that is not its own. */
  readonly forged?: boolean;
}

export interface Parties {
  readonly registered: Map<string, Uint8Array>;
  party(name: string, options?: PartyOptions): Party;
}

export const immediately = (_ms: number, action: () => void): unknown => setImmediate(action);

export function createParties(
  clock: Clock = realClock,
  net: MemoryNetOptions = { after: immediately },
): Parties {
  const memory = createMemoryNet(net);
  const registered = new Map<string, Uint8Array>();
  let count = 0;

  function party(name: string, options: PartyOptions = {}): Party {
    const keys = family.keyPairFromPhrase(options.phrase ?? name);
    const owner = scheme.addressOf(keys.publicKey);
    registered.set(latin1(owner), keys.publicKey);
    const host = options.host ?? `10.0.0.${++count}`;
    const network = options.network ?? memory.host(host);
    const log = memoryLog();
    const signer = options.forged === true ? family.keyPairFromPhrase('mallory') : keys;
    const penalties = new Penalties(
      { suspensionMs: 60_000, blacklistMs: 900_000, blacklisting: true },
      clock,
    );
    const handshake = new Handshake({
      scheme,
      random,
      own: {
        version: { major: 1, minor: 1, patch: 0 },
        agent: 'platform-node',
        chainId: scheme.chainId,
        genesisId: new Uint8Array(64).fill(1),
        consensusType: 'poa',
        settingsHash: new Uint8Array(32).fill(2),
        nodeName: name,
        nonce: 7n,
        declaredAddress: undefined,
        ownerPublicKey: keys.publicKey,
        mode: 'default',
        features: [],
        miner: undefined,
        ...options.hello,
      },
      minimumVersion: { major: 1, minor: 0, patch: 0 },
      sign: (message) => family.sign(signer.privateKey, message, random),
      verify: async (key, message, signature) => family.verify(key, message, signature),
      ephemeralKey: () => family.generateKeyPair(random).publicKey,
      keyOf: (address) => registered.get(latin1(address)),
      ...options.ports,
    });
    const sessions = new SessionRegistry(
      { connectionsMax: 30, handshakeMs: 30_000, idleMs: 60_000, ...options.sessions },
      {
        network,
        clock,
        log,
        scheme,
        handshake,
        penalties,
        ownAddress: owner,
        isConfigured: (_owner, at) =>
          Array.isArray(options.configured)
            ? options.configured.includes(at)
            : options.configured === true,
        miners: () => ({ others: [], isMiner: false }),
      },
    );
    options.prepare?.(sessions);
    const events: string[] = [];
    sessions.onOpen((session) => void events.push(`+${session.nodeName}`));
    sessions.onClose((session, reason) => void events.push(`-${session.nodeName}: ${reason}`));
    const self: Party = {
      keys,
      owner,
      text: scheme.addressToText(owner),
      network,
      handshake,
      sessions,
      penalties,
      log,
      events,
      host,
      port: 0,
      async listen() {
        sessions.start();
        self.port = (await network.listen({ host, port: 0, connectionsMax: 100 })) ?? 0;
      },
      async dial(other) {
        const signal = AbortSignal.timeout(10_000);
        return sessions.establish(await network.dial(other.host, other.port, signal));
      },
      async stop() {
        await sessions.stop();
        await network.close();
      },
    };
    return self;
  }

  return { registered, party };
}

/** Waits, at most a few seconds, for something that happens on the other side. */
export async function until(what: string, holds: () => boolean, ms = 5000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`it never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
