/**
 * An engine that answers what a real one cannot be made to answer: a real HTTP server on a unix
 * socket, with an answer for each path. What has no answer of its own gets that of a good engine.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type FakeAnswer = (response: ServerResponse, request: IncomingMessage) => void;

export interface FakeEngine {
  readonly host: string;
  /** Method and path without the version, in the order of the calls. */
  readonly calls: readonly string[];
  /** The answer from now on to paths that match, by the first that does. */
  answer(path: RegExp, with_: FakeAnswer): void;
}

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

interface Scope {
  teardown(action: () => void): void;
}

export const IMAGE_ID = 'a'.repeat(64);

/** With a certificate it listens on TCP and lets in only clients with the same certificate. */
export async function fakeEngine(scope: Scope, tls?: Certificate): Promise<FakeEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'fake-engine-'));
  const socketPath = join(folder, 'docker.sock');
  const answers: [path: RegExp, with_: FakeAnswer][] = [];
  const calls: string[] = [];
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const path = (request.url ?? '').replace(/^\/v[\d.]+/, '');
    const call = `${request.method} ${path}`;
    calls.push(call);
    request.resume();
    const [, answer] = [...answers, ...GOOD].find(([pattern]) => pattern.test(call)) ?? [];
    if (answer === undefined) says({ message: 'no such page' }, 404)(response, request);
    else answer(response, request);
  };
  const mutual = { ca: tls?.cert, requestCert: true, rejectUnauthorized: true };
  const server =
    tls === undefined ? createServer(serve) : createTlsServer({ ...tls, ...mutual }, serve);
  const place = tls === undefined ? { path: socketPath } : { port: 0, host: '127.0.0.1' };
  await new Promise<void>((resolve) => void server.listen(place, resolve));
  const { port } = Object(server.address()) as { port?: number };
  scope.teardown(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    host: port === undefined ? `unix://${socketPath}` : `tcp://localhost:${port}`,
    calls,
    answer: (path, with_) => void answers.unshift([path, with_]),
  };
}

export const says =
  (value: unknown, status = 200): FakeAnswer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };

export const saysText =
  (text: string | Uint8Array, status = 200): FakeAnswer =>
  (response) => {
    response.writeHead(status).end(text);
  };

/** Nothing, ever. */
export const silence: FakeAnswer = () => {};

/** The connection breaks in the middle of the answer. */
export const breaks: FakeAnswer = (response) => {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('{"Id":', () => response.destroy());
};

/** A frame of standard output. */
export function frame(text: string, stream = 1): Uint8Array {
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
}

const IMAGE = { Id: `sha256:${IMAGE_ID}`, Size: 1000, RepoTags: ['sum:latest'], Config: {} };
const GOOD: readonly (readonly [RegExp, FakeAnswer])[] = [
  [/^GET \/version/, says({ ApiVersion: '1.41', MinAPIVersion: '1.12' })],
  [/^GET \/info/, says({ MemTotal: 8 * 1024 ** 3, NCPU: 4 })],
  [/^GET \/images\//, says(IMAGE)],
  [/^GET \/containers\/json/, says([])],
  [/^GET \/networks\?/, says([])],
  [/^POST \/containers\/create/, says({ Id: 'b'.repeat(64) }, 201)],
  [/^POST \/containers\/\w+\/start/, saysText('', 204)],
  [/^POST \/containers\/\w+\/wait/, silence],
  [/^GET \/containers\/\w+\/json/, says({ State: { Running: true } })],
  [/^POST \/containers\/\w+\/exec/, says({ Id: 'c'.repeat(64) }, 201)],
  [/^POST \/exec\/\w+\/start/, saysText(frame('[]\n'))],
  [/^GET \/exec\/\w+\/json/, says({ Running: false, ExitCode: 0 })],
  [/^DELETE /, saysText('', 204)],
];
