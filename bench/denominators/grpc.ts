/**
 * G: unary calls of gRPC between two processes, both through @grpc/grpc-js, over a socket file. The
 * file is also the program of both processes.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Contender } from '../measure/contender.ts';

export interface Unary {
  readonly calls: Contender;
  stop(): Promise<void>;
}

const IN_FLIGHT = 32;
const BODY_BYTES = 500;
const PATH = join(tmpdir(), `bench-grpc-${process.pid}.sock`);

export async function startUnary(): Promise<Unary> {
  const start = async (role: 'serve' | 'call') => {
    const child = fork(fileURLToPath(import.meta.url), [role, PATH], { stdio: 'inherit' });
    const ended = once(child, 'exit');
    await once(child, 'message');
    return { child, ended };
  };
  const server = await start('serve');
  const client = await start('call');
  return {
    calls: {
      name: 'G',
      async run(ms) {
        const answer = once(client.child, 'message');
        client.child.send(ms);
        const [perSecond] = (await answer) as [number];
        return { perSecond };
      },
    },
    async stop() {
      for (const { child, ended } of [client, server]) {
        child.kill();
        await ended;
      }
      rmSync(PATH, { force: true });
    },
  };
}

const raw = (bytes: Buffer): Buffer => bytes;
const METHOD = {
  path: '/bench.Echo/Echo',
  requestStream: false,
  responseStream: false,
  requestSerialize: raw,
  requestDeserialize: raw,
  responseSerialize: raw,
  responseDeserialize: raw,
} as const;

async function serve(path: string): Promise<void> {
  const { Server, ServerCredentials } = await import('@grpc/grpc-js');
  const server = new Server();
  server.addService(
    { echo: METHOD },
    {
      echo: (
        call: { readonly request: Buffer },
        done: (error: null, answer: Buffer) => void,
      ): void => done(null, call.request),
    },
  );
  server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), () => process.send?.(0));
}

async function call(path: string): Promise<void> {
  const { Client, credentials } = await import('@grpc/grpc-js');
  const client = new Client(`unix:${path}`, credentials.createInsecure());
  const body = Buffer.alloc(BODY_BYTES);
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(METHOD.path, raw, raw, body, (error) =>
        error === null ? resolve() : reject(error),
      );
    });
  process.on('message', async (ms: number) => {
    const begun = performance.now();
    let count = 0;
    const loop = async (): Promise<void> => {
      for (; performance.now() - begun < ms; count++) await one();
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
    process.send?.(count / ((performance.now() - begun) / 1000));
  });
  process.send?.(0);
}

const [, , role, path = ''] = process.argv;
if (role !== undefined) process.once('disconnect', () => process.exit());
if (role === 'serve') await serve(path);
if (role === 'call') await call(path);
