/**
 * A registry of images on this machine, as far as an engine needs one to fetch an image: the
 * distribution protocol over HTTP, which engines accept from a loopback address. It may ask for a
 * login, lie, and answer in any other way that a test wants.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type TarFile, tar } from './tar.ts';

export type RegistryAnswer = (response: ServerResponse, request: IncomingMessage) => void;

export interface Registry {
  /** Host and port. */
  readonly domain: string;
  /** Offers an image of these files under the name; gives its id, without `sha256:`. */
  offer(name: string, tag: string, files: Readonly<Record<string, TarFile>>): Promise<string>;
  /** Offers an image of these layers. */
  offerLayers(name: string, tag: string, layers: readonly Layer[]): Offered;
  /** Offers these bytes as a manifest; gives its digest. */
  offerManifest(name: string, tag: string, bytes: string | Uint8Array, type?: string): string;
  /** From now on, to requests `METHOD /path` that match; returns what ends it. */
  answer(pattern: RegExp, with_: RegistryAnswer): () => void;
  /** What engines and nodes asked for. */
  readonly requests: readonly string[];
}

export interface Layer {
  /** As it is sent, of this media type. */
  readonly bytes: Uint8Array;
  readonly type: string;
  /** Digest of what is unpacked from it. */
  readonly diffId: string;
  /** As the manifest states it. */
  readonly size?: number;
}

export interface Offered {
  /** Id of the image without `sha256:`. */
  readonly id: string;
  /** The manifest as an object, for others made from it. */
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly digest: string;
}

interface Scope {
  teardown(action: () => void): void;
}

interface Answer {
  readonly type: string;
  readonly bytes: Uint8Array;
}

export const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
export const INDEX = 'application/vnd.docker.distribution.manifest.list.v2+json';
const CONFIG = 'application/vnd.docker.container.image.v1+json';
const LAYER = 'application/vnd.docker.image.rootfs.diff.tar';
export const ZIPPED_LAYER = 'application/vnd.docker.image.rootfs.diff.tar.gzip';

export const digestOf = (bytes: Uint8Array): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

export async function layerOf(files: Readonly<Record<string, TarFile>>): Promise<Layer> {
  const bytes = await buffer(tar(files));
  return { bytes, type: LAYER, diffId: digestOf(bytes) };
}

export async function startRegistry(
  scope: Scope,
  login?: { readonly username: string; readonly password: string },
): Promise<Registry> {
  const answers = new Map<string, Answer>();
  const special: [pattern: RegExp, with_: RegistryAnswer][] = [];
  const requests: string[] = [];
  const expected =
    login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
  const server = createServer((request, response) => {
    const { method, url = '' } = request;
    const asked = `${method} ${url}`;
    requests.push(asked);
    if (expected !== undefined && request.headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="registry"' }).end();
      return;
    }
    const [, other] = special.find(([pattern]) => pattern.test(asked)) ?? [];
    if (other !== undefined) {
      other(response, request);
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

  function offerManifest(
    name: string,
    tag: string,
    bytes: string | Uint8Array,
    type = MANIFEST,
  ): string {
    const answer = { type, bytes: Buffer.from(bytes) };
    const digest = digestOf(answer.bytes);
    for (const at of [tag, digest]) answers.set(`/v2/${name}/manifests/${at}`, answer);
    return digest;
  }

  function offerLayers(name: string, tag: string, layers: readonly Layer[]): Offered {
    const config = jsonAnswer(CONFIG, {
      architecture: 'amd64',
      os: 'linux',
      config: { Cmd: ['/bin/sleep', '1000000'] },
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    });
    const part = ({ type, bytes, size = bytes.length }: Answer & { readonly size?: number }) => ({
      mediaType: type,
      size,
      digest: digestOf(bytes),
    });
    const manifest = {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: part(config),
      layers: layers.map(part),
    };
    for (const blob of [config, ...layers])
      answers.set(`/v2/${name}/blobs/${digestOf(blob.bytes)}`, blob);
    const digest = offerManifest(name, tag, JSON.stringify(manifest));
    return { id: digestOf(config.bytes).replace('sha256:', ''), manifest, digest };
  }

  return {
    domain: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    offerManifest,
    offerLayers,
    answer(pattern, with_) {
      const one: (typeof special)[number] = [pattern, with_];
      special.unshift(one);
      return () => void special.splice(special.indexOf(one), 1);
    },
    async offer(name, tag, files) {
      return offerLayers(name, tag, [await layerOf(files)]).id;
    },
  };
}

const jsonAnswer = (type: string, value: unknown): Answer => ({
  type,
  bytes: Buffer.from(JSON.stringify(value)),
});
