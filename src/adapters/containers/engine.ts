/** The calls of the Docker Engine API that the node makes, each with its limit of time. */
import type { Clock } from '../../base/ports.ts';
import type { ContainerNetwork } from './container-interface.ts';
import {
  type EngineMachine,
  type ImageInfo,
  imageInfo,
  machineIn,
  nameIn,
  namesInit,
  networkIn,
  numberField,
  type Platform,
  platformIn,
  textField,
  versionFor,
} from './engine-answers.ts';
import {
  type EngineAddress,
  EngineAway,
  type EngineCall,
  EngineRefusal,
  engineClient,
  isRecord,
  networkRefusal,
} from './engine-client.ts';

export interface ContainerEnd {
  readonly exitCode: number;
  readonly outOfMemory: boolean;
}

export interface Engine {
  /** Chooses the version of the API. Rejects where the engine is away, hangs or is too old. */
  negotiate(): Promise<void>;
  /** True where the engine can put its own first process into a container. */
  readonly hasInit: boolean;
  readonly platform: Platform;
  machine(): Promise<EngineMachine>;
  /** Undefined where there is no image of this name or id. */
  image(name: string): Promise<ImageInfo | undefined>;
  /** Progress of the pull as JSON lines. */
  pull(name: ImageToPull, auth: string | undefined, signal: AbortSignal): ByteChunks;
  /** Builds an image from a tar archive with a Dockerfile. Progress as JSON lines. */
  build(archive: AsyncIterable<Uint8Array>, signal: AbortSignal): ByteChunks;
  tag(imageId: string, name: string, tag: string): Promise<void>;
  /** Takes the name from an image, and removes it where that was the last; not one that is used. */
  removeImage(name: string): Promise<'gone' | 'used'>;
  login(registry: RegistryLogin): Promise<void>;
  create(name: string, definition: unknown, signal: AbortSignal): Promise<string>;
  start(id: string, signal: AbortSignal): Promise<void>;
  /** Resolves with the exit code when the container ends. */
  wait(id: string, signal: AbortSignal): Promise<number>;
  /** Undefined while it runs or where it is unknown. */
  end(id: string): Promise<ContainerEnd | undefined>;
  /** The last lines of its output, as frames. */
  logs(id: string, signal: AbortSignal): ByteChunks;
  kill(id: string): Promise<void>;
  /** Kills it first where it runs. A container that is not there is no error. */
  remove(id: string): Promise<void>;
  exec(id: string, command: ExecCommand, signal: AbortSignal): Promise<string>;
  /** Output as frames. */
  startExec(execId: string, signal: AbortSignal): ByteChunks;
  exitCode(execId: string, signal: AbortSignal): Promise<number>;
  /** Names of all containers, the stopped ones too, or of all networks, that have the label. */
  withLabel(what: 'containers' | 'networks', label: string): Promise<string[]>;
  /** Makes a bridge. */
  createNetwork(name: string, definition: unknown, signal: AbortSignal): Promise<ContainerNetwork>;
  removeNetwork(name: string): Promise<void>;
  /** True where a network that was made here, and is not removed yet, includes the address. */
  hasNetworkOf(address: string): boolean;
  close(): Promise<void>;
}

type ByteChunks = Promise<AsyncIterable<Uint8Array>>;

export interface ImageToPull {
  readonly fromImage: string;
  readonly tag: string;
}

export interface RegistryLogin {
  readonly domain: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

export interface ExecCommand {
  readonly command: readonly string[];
  readonly env: readonly string[];
}

const PING_MS = 5000;
const CALL_MS = 15_000;
/** Starting, creating and removing wait for the disk and for other containers. */
const SLOW_MS = 60_000;
/** A pull begins with an answer of the registry. */
const PULL_MS = 60_000;
/** The engine may answer only when it has read the whole archive. */
const BUILD_MS = 600_000;
/** A container is waited for as long as it runs. */
const FOREVER_MS = 2 ** 31 - 1;
const EXIT_WAIT_MS = 10;
const LOG_LINES = '50';

export function createEngine(address: EngineAddress, clock: Pick<Clock, 'after'>): Engine {
  const client = engineClient(address, clock);
  let hasInit = false;
  const networks = new Map<string, ContainerNetwork>();
  let platform = platformIn(undefined);
  const ask = (method: EngineCall['method'], path: string, more: Partial<EngineCall> = {}) =>
    client.ask({ method, path, timeoutMs: CALL_MS, ...more });
  const post = (path: string, body: unknown, more: Partial<EngineCall> = {}) =>
    ask('POST', path, { body, ...more });
  const unless = async <T>(status: readonly number[], call: Promise<T>): Promise<T | undefined> => {
    try {
      return await call;
    } catch (cause) {
      if (cause instanceof EngineRefusal && status.includes(cause.status)) return undefined;
      throw cause;
    }
  };

  return {
    get hasInit() {
      return hasInit;
    },
    get platform() {
      return platform;
    },
    async machine() {
      return machineIn(await ask('GET', '/info'));
    },
    async negotiate() {
      const answer = await client.ask({
        method: 'GET',
        path: '/version',
        timeoutMs: PING_MS,
        unversioned: true,
      });
      client.useVersion(versionFor(answer));
      hasInit = namesInit(answer);
      platform = platformIn(answer);
    },
    async image(name) {
      // 400: no image can have this name.
      const answer = await unless(
        [400, 404],
        ask('GET', `/images/${encodeURIComponent(name)}/json`),
      );
      return answer === undefined ? undefined : imageInfo(answer);
    },
    pull: (name, auth, signal) =>
      client.open({
        method: 'POST',
        path: '/images/create',
        query: { ...name },
        headers: auth === undefined ? {} : { 'x-registry-auth': auth },
        timeoutMs: PULL_MS,
        signal,
      }),
    build: (archive, signal) =>
      client.open({
        method: 'POST',
        path: '/build',
        query: { rm: '1', forcerm: '1' },
        headers: { 'content-type': 'application/x-tar' },
        content: archive,
        timeoutMs: BUILD_MS,
        signal,
      }),
    async tag(imageId, name, tag) {
      await post(`/images/${imageId}/tag`, undefined, { query: { repo: name, tag } });
    },
    async removeImage(name) {
      try {
        await ask('DELETE', `/images/${encodeURIComponent(name)}`, { timeoutMs: SLOW_MS });
        return 'gone';
      } catch (cause) {
        if (!(cause instanceof EngineRefusal)) throw cause;
        return [400, 404].includes(cause.status) ? 'gone' : 'used';
      }
    },
    async login({ domain, username, password }) {
      await post('/auth', { serveraddress: domain, username, password }, { timeoutMs: PULL_MS });
    },
    async create(name, definition, signal) {
      const limits = { query: { name }, signal, timeoutMs: SLOW_MS };
      return textField(await post('/containers/create', definition, limits), 'Id');
    },
    async start(id, signal) {
      await post(`/containers/${id}/start`, undefined, { signal, timeoutMs: SLOW_MS });
    },
    async wait(id, signal) {
      const limits = { signal, timeoutMs: FOREVER_MS };
      return numberField(await post(`/containers/${id}/wait`, undefined, limits), 'StatusCode');
    },
    async end(id) {
      const answer = await unless([404], ask('GET', `/containers/${id}/json`));
      const state = isRecord(answer) ? answer['State'] : undefined;
      if (!isRecord(state) || state['Running'] === true) return undefined;
      return { exitCode: numberField(state, 'ExitCode'), outOfMemory: state['OOMKilled'] === true };
    },
    logs: (id, signal) =>
      client.open({
        method: 'GET',
        path: `/containers/${id}/logs`,
        query: { stdout: '1', stderr: '1', tail: LOG_LINES },
        timeoutMs: CALL_MS,
        signal,
      }),
    async kill(id) {
      await unless([404, 409], post(`/containers/${id}/kill`, undefined));
    },
    async remove(id) {
      const query = { force: '1', v: '1' };
      const removal = ask('DELETE', `/containers/${id}`, { query, timeoutMs: SLOW_MS });
      // 409: another removal of it is under way.
      await unless([404, 409], removal);
    },
    async exec(id, { command, env }, signal) {
      const definition = { AttachStdout: true, AttachStderr: true, Cmd: command, Env: env };
      return textField(await post(`/containers/${id}/exec`, definition, { signal }), 'Id');
    },
    startExec: (execId, signal) =>
      client.open({
        method: 'POST',
        path: `/exec/${execId}/start`,
        body: { Detach: false, Tty: false },
        timeoutMs: SLOW_MS,
        signal,
      }),
    async exitCode(execId, signal) {
      for (;;) {
        const answer = await ask('GET', `/exec/${execId}/json`, { signal });
        // The output may end before the engine knows of the end of the process.
        if (!isRecord(answer) || answer['Running'] !== true) return numberField(answer, 'ExitCode');
        await new Promise<void>((resolve) => void clock.after(EXIT_WAIT_MS, resolve));
      }
    },
    async withLabel(what, label) {
      const query = { filters: JSON.stringify({ label: [label] }), all: '1' };
      const path = what === 'containers' ? '/containers/json' : '/networks';
      const answer = await ask('GET', path, { query });
      if (!Array.isArray(answer)) throw new EngineAway('an answer that is no list');
      return answer.map((one) => nameIn(one, what));
    },
    async createNetwork(name, definition, signal) {
      await post('/networks/create', definition, { signal, timeoutMs: SLOW_MS }).catch((cause) => {
        throw networkRefusal(cause);
      });
      const network = networkIn(await ask('GET', `/networks/${name}`, { signal }));
      networks.set(name, network);
      return network;
    },
    async removeNetwork(name) {
      await unless([404], ask('DELETE', `/networks/${name}`, { timeoutMs: SLOW_MS }));
      networks.delete(name);
    },
    hasNetworkOf: (address) => [...networks.values()].some((one) => one.includes(address)),
    close: () => client.close(),
  };
}
