/**
 * H and E: what the HTTP server alone does, through hyper-express as it is installed. The file is
 * also the program of the server's process.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type HyperExpress from 'hyper-express';

export interface EchoServer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** GET /hello answers `hello`; POST /echo answers the body. */
export function startEchoServer(): Promise<EchoServer> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['serve'], { stdio: 'inherit' });
    const ended = new Promise<void>((done) => child.once('exit', () => done()));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the echo server ended with ${code}`)));
    child.once('message', (port) => {
      const stop = (): Promise<void> => {
        child.kill();
        return ended;
      };
      resolve({ port: Number(port), pid: child.pid ?? 0, stop });
    });
  });
}

async function serve(): Promise<void> {
  const { default: hyperExpress } = await import('hyper-express');
  const server = new hyperExpress.Server();
  server.get('/hello', (_request, response) => {
    response.send('hello');
  });
  server.post('/echo', async (request: HyperExpress.Request, response: HyperExpress.Response) => {
    response.type('json').send(await request.buffer());
  });
  await server.listen(0, '127.0.0.1');
  process.send?.(server.port);
}

if (process.argv[2] === 'serve') await serve();
