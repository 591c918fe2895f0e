/** Opens the container engine that a configuration names (contracts.md#the-engine). */
import { resolve } from 'node:path';
import type { ContainersDeps } from '../../adapters/containers/containers.ts';
import type { Engine } from '../../adapters/containers/engine.ts';
import { StartError } from '../../base/faults/start-error.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Containers } from '../../base/ports/containers.ts';
import type { Config } from '../../node/config/settings.ts';

type EngineSettings = Config['dockerEngine'];

type ContainersPorts = Omit<ContainersDeps, 'grpc'>;

/**
 * Undefined where this node executes no contracts. Throws StartError where the engine does not
 * answer, so that an operator learns of it at the start and not with the first call.
 */
export async function openContainers(
  config: Config,
  ports: ContainersPorts,
): Promise<Containers | undefined> {
  const { dockerEngine } = config;
  if (!dockerEngine.enable) return undefined;
  const adapter = await import('../../adapters/containers/containers.ts');
  const grpc = await openGrpc(config, ports);
  try {
    return await adapter.openContainers(optionsOf(config), { ...ports, grpc });
  } catch (cause) {
    await grpc.close();
    throw notReached(dockerEngine, cause);
  }
}

/** Opens nothing. Throws StartError where `openContainers` would find no engine. */
export async function askEngine(config: Config, clock: Pick<Clock, 'after'>): Promise<void> {
  const { Engine } = await import('../../adapters/containers/engine.ts');
  let engine: Engine | undefined;
  try {
    engine = new Engine(addressOf(config.dockerEngine), clock);
    await engine.negotiate();
  } catch (cause) {
    throw notReached(config.dockerEngine, cause);
  } finally {
    await engine?.close();
  }
}

const notReached = ({ dockerHost }: EngineSettings, cause: unknown): StartError =>
  new StartError(
    `container engine at ${dockerHost}`,
    'docker-engine.docker-host',
    // Where the connection failed, the system says why.
    (cause as Error).cause ?? cause,
    'start it and let this user reach it, or set docker-engine.enable = no',
  );

function addressOf({ dockerHost, tls: { ca, cert, key } }: EngineSettings) {
  const isComplete = cert !== undefined && key !== undefined;
  return { host: dockerHost, tls: isComplete ? { ca, cert, key } : undefined };
}

async function openGrpc({ api, dockerEngine, dataDirectory }: Config, ports: ContainersPorts) {
  const { grpcInterface } = await import('../../adapters/containers/grpc/interface.ts');
  const { bindAddress, port } = api.grpc;
  const listen =
    dockerEngine.grpcListen === 'unix'
      ? { kind: 'unix' as const, folder: resolve(dataDirectory, 'contracts') }
      : { kind: 'tcp' as const, host: bindAddress, port };
  try {
    const tokenLifetimeMs = dockerEngine.contractAuthExpiresIn.ms;
    return await grpcInterface({ listen, tokenLifetimeMs }, ports);
  } catch (cause) {
    if (listen.kind === 'unix') {
      const part = `sockets of contracts in ${listen.folder}`;
      throw new StartError(part, 'data-directory', cause, 'make it writable');
    }
    const part = `listener for contracts on ${bindAddress}:${port}`;
    throw StartError.ofAddress(part, 'api.grpc.bind-address, api.grpc.port', cause);
  }
}

function optionsOf({ dockerEngine, dataDirectory, ownerAddress }: Config) {
  const { executionLimits } = dockerEngine;
  return {
    engine: addressOf(dockerEngine),
    nodeName: `${ownerAddress} ${resolve(dataDirectory)}`,
    limits: {
      memoryMb: executionLimits.memory,
      memorySwapMb: executionLimits.memorySwap,
      cpus: executionLimits.cpus,
      pids: executionLimits.pids,
      cgroupParent: dockerEngine.cgroupParent,
    },
    startupMs: executionLimits.startupTimeout.ms,
    executionMs: executionLimits.timeout.ms,
    perContainerMax: dockerEngine.maxConcurrentPerContainer,
    removeAfterMs: dockerEngine.removeContainerAfter.ms,
    removeOnFail: dockerEngine.removeContainerOnFail,
    reuse: dockerEngine.reuseContainers,
    allowNetAccess: dockerEngine.allowNetAccess,
    registries: dockerEngine.remoteRegistries,
    allowedImages: dockerEngine.allowedImages,
    imageSizeMax: dockerEngine.imageSizeMax,
    imageQuota: dockerEngine.imageQuota,
    pullMs: dockerEngine.pullTimeout.ms,
    pulledImages: resolve(dataDirectory, 'pulled-images.json'),
    defaultRegistryDomain: dockerEngine.defaultRegistryDomain,
    checkRegistryAuth: dockerEngine.checkRegistryAuthOnStartup,
    pull: dockerEngine.pull,
    protocolByCreateVersion: dockerEngine.protocolByCreateVersion,
    rest: restAddress(dockerEngine),
  };
}

const WILDCARDS = ['0.0.0.0', '::'];

/** Where containers find /internal/contracts. */
function restAddress({ restListen, nodeRestApi }: EngineSettings) {
  if (restListen === 'off') return undefined;
  if (nodeRestApi !== undefined) {
    const { hostname, port } = urlOf(nodeRestApi);
    return { host: hostname, port: port === '' ? restListen.port : Number(port) };
  }
  const { host, port } = restListen;
  return { host: WILDCARDS.includes(host) ? undefined : host, port };
}

function urlOf(address: string): URL {
  try {
    return new URL(address.includes('://') ? address : `http://${address}`);
  } catch (cause) {
    const remedy = 'write host or host:port';
    throw new StartError(`address ${address}`, 'docker-engine.node-rest-api', cause, remedy);
  }
}
