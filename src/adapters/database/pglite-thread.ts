/**
 * The end of this thread of a PGlite in another one: sends commands and settles them. It ends for
 * good, with what was under way; the caller opens another one.
 */
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { DatabaseError, databaseFailure } from '../../base/ports/database.ts';
import { extension } from '../threads/module-extension.ts';
import { threadFlags } from '../threads/thread-flags.ts';
import type {
  FromPglite,
  PgliteCommand,
  PgliteData,
  PgliteProgram,
  ToPglite,
} from './pglite-messages.ts';

export interface PgliteThread {
  /** Rejects with DatabaseError. */
  call(command: PgliteCommand): Promise<readonly object[]>;
  isEnded(): boolean;
  /** Fails what is under way with this cause; resolves when the thread is gone. */
  end(cause: DatabaseError): Promise<void>;
}

interface Pending {
  readonly resolve: (rows: readonly object[]) => void;
  readonly reject: (cause: DatabaseError) => void;
}

const WORKER = new URL(`./pglite-worker${extension}`, import.meta.url);

let loaded: Promise<PgliteProgram> | undefined;

/** Resolves when the store is open; rejects with DatabaseError. */
export async function pgliteThread(
  store: Omit<PgliteData, 'program'>,
  heard: (channel: string) => void,
): Promise<PgliteThread> {
  const worker = await startWorker(store);
  const pending = new Map<number, Pending>();
  const opening = Promise.withResolvers<void>();
  let ended: DatabaseError | undefined;
  let next = 0;

  function over(cause: DatabaseError): void {
    ended ??= cause;
    opening.reject(ended);
    for (const { reject } of pending.values()) reject(ended);
    pending.clear();
  }

  /** The process waits for an answer, but not for an idle thread. */
  function settle(id: number): Pending | undefined {
    const found = pending.get(id);
    pending.delete(id);
    if (pending.size === 0) worker.unref();
    return found;
  }

  worker.on('message', (message: FromPglite) => {
    switch (message.kind) {
      case 'open':
        worker.unref();
        return opening.resolve();
      case 'unusable':
        return over(failure(message));
      case 'done':
        return settle(message.id)?.resolve(message.rows);
      case 'failed':
        return settle(message.id)?.reject(failure(message));
      case 'heard':
        return heard(message.channel);
    }
  });
  worker.on('error', (cause) => over(new DatabaseError('away', cause)));
  worker.on('exit', (code) => over(new DatabaseError('away', `the thread ended with ${code}`)));
  const end = async (cause: DatabaseError): Promise<void> => {
    over(cause);
    await worker.terminate();
  };
  await opening.promise.catch(async (cause: DatabaseError) => {
    // The files may have been damaged when they were read.
    loaded = undefined;
    await end(cause);
    throw cause;
  });
  return {
    call(command) {
      if (ended !== undefined) return Promise.reject(ended);
      return new Promise((resolve, reject) => {
        const id = next++;
        pending.set(id, { resolve, reject });
        worker.ref();
        worker.postMessage({ id, command } satisfies ToPglite);
      });
    },
    isEnded: () => ended !== undefined,
    end,
  };
}

function failure({ code, message }: { code: string; message: string }): DatabaseError {
  const isFull = /No space left|ENOSPC/.test(message);
  return new DatabaseError(isFull ? 'full' : databaseFailure(code), message);
}

async function startWorker(store: Omit<PgliteData, 'program'>): Promise<Worker> {
  const program = await loadProgram();
  return new Worker(WORKER, {
    name: 'pglite',
    workerData: { ...store, program } satisfies PgliteData,
    env: {},
    execArgv: threadFlags(),
  });
}

/** A thread that follows another one begins with what the engine has compiled for it. */
function loadProgram(): Promise<PgliteProgram> {
  loaded ??= readProgram().catch((cause: unknown) => {
    loaded = undefined;
    throw new DatabaseError('away', cause);
  });
  return loaded;
}

async function readProgram(): Promise<PgliteProgram> {
  const index = import.meta.resolve('@electric-sql/pglite');
  const read = (name: string) => readFile(new URL(name, index));
  const [code, files] = await Promise.all([read('pglite.wasm'), read('pglite.data')]);
  return { module: await WebAssembly.compile(code), files: new Blob([files]) };
}
