/**
 * A registry of images on this machine, as far as an engine needs one to fetch an image: the
 * distribution protocol over HTTP, which engines accept from a loopback address. It may ask for a
 * login.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type TarFile, tar } from './tar.ts';

export interface Registry {
  /** Host and port. */
  readonly domain: string;
  /** Offers an image of these files under the name; gives its id, without `sha256:`. */
  offer(name: string, tag: string, files: Readonly<Record<string, TarFile>>): Promise<string>;
  /** What engines asked for. */
  readonly requests: readonly string[];
}

interface Scope {
  teardown(action: () => void): void;
}

interface Answer {
  readonly type: string;
  readonly bytes: Uint8Array;
}

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const CONFIG = 'application/vnd.docker.container.image.v1+json';
const LAYER = 'application/vnd.docker.image.rootfs.diff.tar';

const digestOf = (bytes: Uint8Array): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

export async function startRegistry(
  scope: Scope,
  login?: { readonly username: string; readonly password: string },
): Promise<Registry> {
  const answers = new Map<string, Answer>();
  const requests: string[] = [];
  const expected =
    login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
  const server = createServer((request, response) => {
    const { method, url = '' } = request;
    requests.push(`${method} ${url}`);
    if (expected !== undefined && request.headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="registry"' }).end();
      return;
    }
    const found =
      url === '/v2/' ? { type: 'application/json', bytes: new Uint8Array() } : answers.get(url);
    if (found === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}');
      return;
    }
    response.writeHead(200, {
      'content-type': found.type,
      'content-length': found.bytes.length,
      'docker-content-digest': digestOf(found.bytes),
    });
    response.end(method === 'HEAD' ? undefined : found.bytes);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  scope.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    domain: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async offer(name, tag, files) {
      const layer = { type: LAYER, bytes: await buffer(tar(files)) };
      const config = jsonAnswer(CONFIG, {
        architecture: 'amd64',
        os: 'linux',
        config: { Cmd: ['/bin/sleep', '1000000'] },
        rootfs: { type: 'layers', diff_ids: [digestOf(layer.bytes)] },
      });
      const part = ({ type, bytes }: Answer) => ({
        mediaType: type,
        size: bytes.length,
        digest: digestOf(bytes),
      });
      const manifest = jsonAnswer(MANIFEST, {
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: part(config),
        layers: [part(layer)],
      });
      for (const blob of [config, layer])
        answers.set(`/v2/${name}/blobs/${digestOf(blob.bytes)}`, blob);
      for (const at of [tag, digestOf(manifest.bytes)])
        answers.set(`/v2/${name}/manifests/${at}`, manifest);
      return digestOf(config.bytes).replace('sha256:', '');
    },
  };
}

const jsonAnswer = (type: string, value: unknown): Answer => ({
  type,
  bytes: Buffer.from(JSON.stringify(value)),
});
