/** The calls of the Docker Engine API that the node makes, each with its limit of time. */

import { pause, timeLimit } from '../../base/deadline.ts';
import { isObject } from '../../base/json/json.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ContainerNetwork } from './container-interface.ts';
import {
  type EngineKind,
  type EngineMachine,
  type ImageInfo,
  imageInfo,
  kindOf,
  machineIn,
  nameIn,
  networkIn,
  numberField,
  type Platform,
  platformIn,
  processesIn,
  textField,
  versionFor,
} from './engine-answers.ts';
import {
  type EngineAddress,
  EngineAway,
  type EngineCall,
  type EngineClient,
  EngineRefusal,
  engineClient,
  networkRefusal,
} from './engine-client.ts';

export interface ContainerEnd {
  readonly exitCode: number;
  readonly outOfMemory: boolean;
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
/** The count of processes may add this much to a call that has ended. */
const COUNT_MS = 1000;
const LOG_LINES = '50';

export class Engine {
  readonly #client: EngineClient;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #networks = new Map<string, ContainerNetwork>();
  #kind = kindOf(undefined);
  #platform = platformIn(undefined);

  constructor(address: EngineAddress, clock: Pick<Clock, 'after'>) {
    this.#client = engineClient(address, clock);
    this.#clock = clock;
  }

  get kind(): EngineKind {
    return this.#kind;
  }

  get platform(): Platform {
    return this.#platform;
  }

  /** Chooses the version of the API. Rejects where the engine is away, hangs or is too old. */
  async negotiate(): Promise<void> {
    const answer = await this.#client.ask({
      method: 'GET',
      path: '/version',
      timeoutMs: PING_MS,
      unversioned: true,
    });
    this.#client.useVersion(versionFor(answer));
    this.#kind = kindOf(answer);
    this.#platform = platformIn(answer);
  }

  async machine(): Promise<EngineMachine> {
    return machineIn(await this.#ask('GET', '/info'));
  }

  /** Undefined where there is no image of this name or id. */
  async image(name: string): Promise<ImageInfo | undefined> {
    const asked = this.#ask('GET', `/images/${encodeURIComponent(name)}/json`);
    // 400: no image can have this name.
    const answer = await unless([400, 404], asked);
    return answer === undefined ? undefined : imageInfo(answer);
  }

  /** Progress of the pull as JSON lines. */
  pull(name: ImageToPull, auth: string | undefined, signal: AbortSignal): ByteChunks {
    return this.#client.open({
      method: 'POST',
      path: '/images/create',
      query: { ...name },
      headers: auth === undefined ? {} : { 'x-registry-auth': auth },
      timeoutMs: PULL_MS,
      signal,
    });
  }

  /** Builds an image from a tar archive with a Dockerfile. Progress as JSON lines. */
  build(archive: AsyncIterable<Uint8Array>, signal: AbortSignal): ByteChunks {
    return this.#client.open({
      method: 'POST',
      path: '/build',
      query: { rm: '1', forcerm: '1' },
      headers: { 'content-type': 'application/x-tar' },
      content: archive,
      timeoutMs: BUILD_MS,
      signal,
    });
  }

  async tag(imageId: string, name: string, tag: string): Promise<void> {
    await this.#post(`/images/${imageId}/tag`, undefined, { query: { repo: name, tag } });
  }

  /** Takes the name from an image, and removes it where that was the last; not one that is used. */
  async removeImage(name: string): Promise<'gone' | 'used'> {
    try {
      await this.#ask('DELETE', `/images/${encodeURIComponent(name)}`, { timeoutMs: SLOW_MS });
      return 'gone';
    } catch (cause) {
      if (!(cause instanceof EngineRefusal)) throw cause;
      return [400, 404].includes(cause.status) ? 'gone' : 'used';
    }
  }

  async login({ domain, username, password }: RegistryLogin): Promise<void> {
    const body = { serveraddress: domain, username, password };
    await this.#post('/auth', body, { timeoutMs: PULL_MS });
  }

  async create(name: string, definition: unknown, signal: AbortSignal): Promise<string> {
    const limits = { query: { name }, signal, timeoutMs: SLOW_MS };
    return textField(await this.#post('/containers/create', definition, limits), 'Id');
  }

  async start(id: string, signal: AbortSignal): Promise<void> {
    await this.#post(`/containers/${id}/start`, undefined, { signal, timeoutMs: SLOW_MS });
  }

  /** Resolves with the exit code when the container ends. */
  async wait(id: string, signal: AbortSignal): Promise<number> {
    const limits = { signal, timeoutMs: FOREVER_MS };
    const answer = await this.#post(`/containers/${id}/wait`, undefined, limits);
    return numberField(answer, 'StatusCode');
  }

  /** Undefined while it runs or where it is unknown. */
  async end(id: string): Promise<ContainerEnd | undefined> {
    const answer = await unless([404], this.#ask('GET', `/containers/${id}/json`));
    const state = isObject(answer) ? answer['State'] : undefined;
    if (!isObject(state) || state['Running'] === true) return undefined;
    return { exitCode: numberField(state, 'ExitCode'), outOfMemory: state['OOMKilled'] === true };
  }

  /** The last lines of its output, as frames. */
  logs(id: string, signal: AbortSignal): ByteChunks {
    return this.#client.open({
      method: 'GET',
      path: `/containers/${id}/logs`,
      query: { stdout: '1', stderr: '1', tail: LOG_LINES },
      timeoutMs: CALL_MS,
      signal,
    });
  }

  async kill(id: string): Promise<void> {
    await unless([404, 409], this.#post(`/containers/${id}/kill`, undefined));
  }

  /** Kills it first where it runs. A container that is not there is no error. */
  async remove(id: string): Promise<void> {
    const query = { force: '1', v: '1' };
    const removal = this.#ask('DELETE', `/containers/${id}`, { query, timeoutMs: SLOW_MS });
    // 409: another removal of it is under way.
    await unless([404, 409], removal);
  }

  async exec(id: string, { command, env }: ExecCommand, signal: AbortSignal): Promise<string> {
    const definition = { AttachStdout: true, AttachStderr: true, Cmd: command, Env: env };
    return textField(await this.#post(`/containers/${id}/exec`, definition, { signal }), 'Id');
  }

  /**
   * How many processes run in it; undefined where the engine does not count them, at least not soon, or a proxy before
   * it lets nobody ask.
   */
  async processes(id: string, signal: AbortSignal): Promise<number | undefined> {
    const end = new AbortController();
    const { late, cancel } = timeLimit(this.#clock, COUNT_MS);
    const query = { stream: 'false', 'one-shot': 'true' };
    const limits = { query, signal: AbortSignal.any([signal, end.signal]) };
    const asked = this.#ask('GET', `/containers/${id}/stats`, limits).catch((cause: unknown) => {
      if (cause instanceof EngineRefusal || end.signal.aborted) return undefined;
      throw cause;
    });
    try {
      return processesIn(await Promise.race([asked, late]));
    } finally {
      cancel();
      end.abort();
    }
  }

  /** Output as frames. */
  startExec(execId: string, signal: AbortSignal): ByteChunks {
    return this.#client.open({
      method: 'POST',
      path: `/exec/${execId}/start`,
      body: { Detach: false, Tty: false },
      timeoutMs: SLOW_MS,
      signal,
    });
  }

  async exitCode(execId: string, signal: AbortSignal): Promise<number> {
    for (;;) {
      const answer = await this.#ask('GET', `/exec/${execId}/json`, { signal });
      // The output may end before the engine knows of the end of the process.
      if (!isObject(answer) || answer['Running'] !== true) return numberField(answer, 'ExitCode');
      await pause(this.#clock, EXIT_WAIT_MS);
    }
  }

  /** Names of all containers, the stopped ones too, or of all networks, that have the label. */
  async withLabel(what: 'containers' | 'networks', label: string): Promise<string[]> {
    const query = { filters: JSON.stringify({ label: [label] }), all: '1' };
    const path = what === 'containers' ? '/containers/json' : '/networks';
    const answer = await this.#ask('GET', path, { query });
    if (!Array.isArray(answer)) throw new EngineAway('an answer that is no list');
    return answer.map((one) => nameIn(one, what));
  }

  /** Makes a bridge. */
  async createNetwork(
    name: string,
    definition: unknown,
    signal: AbortSignal,
  ): Promise<ContainerNetwork> {
    const limits = { signal, timeoutMs: SLOW_MS };
    await this.#post('/networks/create', definition, limits).catch((cause) => {
      throw networkRefusal(cause);
    });
    const network = networkIn(await this.#ask('GET', `/networks/${name}`, { signal }));
    this.#networks.set(name, network);
    return network;
  }

  async removeNetwork(name: string): Promise<void> {
    await unless([404], this.#ask('DELETE', `/networks/${name}`, { timeoutMs: SLOW_MS }));
    this.#networks.delete(name);
  }

  /** True where a network that was made here, and is not removed yet, includes the address. */
  hasNetworkOf(address: string): boolean {
    return [...this.#networks.values()].some((one) => one.includes(address));
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #ask(
    method: EngineCall['method'],
    path: string,
    more: Partial<EngineCall> = {},
  ): Promise<unknown> {
    return this.#client.ask({ method, path, timeoutMs: CALL_MS, ...more });
  }

  #post(path: string, body: unknown, more: Partial<EngineCall> = {}): Promise<unknown> {
    return this.#ask('POST', path, { body, ...more });
  }
}

/** Undefined where the engine refuses with one of these. */
async function unless<T>(status: readonly number[], call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (cause) {
    if (cause instanceof EngineRefusal && status.includes(cause.status)) return undefined;
    throw cause;
  }
}
