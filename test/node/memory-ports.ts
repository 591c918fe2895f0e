/** Ports of a node in memory: log, journal, signature checks, HTTP. */
import type { Http } from '../../src/base/ports/http.ts';
import type { Journal } from '../../src/base/ports/journal.ts';
import type { Log, LogFields } from '../../src/base/ports/log.ts';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import type { CryptoFamily } from '../../src/crypto/family.ts';

export interface MemoryLog extends Log {
  /** Fields of all lines of this event. */
  of(event: string): readonly LogFields[];
  all(): readonly LogFields[];
}

export function memoryLog(): MemoryLog {
  const lines: { readonly event: string; readonly fields: LogFields }[] = [];
  const write = (event: string, fields: LogFields = {}): void => {
    lines.push({ event, fields });
  };
  return {
    debug: write,
    info: write,
    warn: write,
    error: write,
    all: () => lines.map(({ event, fields }) => ({ event, ...fields })),
    of: (event) => lines.filter((line) => line.event === event).map((line) => line.fields),
  };
}

/** What a journal leaves behind for the next one. */
export interface Records {
  list: readonly Uint8Array[];
  /** An append is durable once this has resolved. */
  disk: Promise<void>;
}

export const emptyRecords = (): Records => ({ list: [], disk: Promise.resolve() });

export function memoryJournal(records: Records): Journal {
  const recovered = records.list;
  return {
    recovered,
    async append(record) {
      await records.disk;
      records.list = [...records.list, record.slice()];
    },
    async rewrite(next) {
      records.list = [...next].map((record) => record.slice());
    },
    close: async () => {},
  };
}

/** Checks in the calling thread. */
export function inlineVerifier(family: CryptoFamily): Verifier {
  return {
    verifyOne: async (key, message, signature) => family.verify(key, message, signature),
    verify: async (items) =>
      items.map(({ publicKey, message, signature }) =>
        family.verify(publicKey, message, signature),
      ),
    close: async () => {},
  };
}

/** Takes the routes and listens nowhere. */
export const noHttp: Http = {
  listen: async () => ({ port: 0, reload: async () => {}, close: async () => {} }),
};
