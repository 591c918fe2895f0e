/** Nodes of a private network execute contracts where a container engine answers. */
import type { Config } from '../../../node/config/settings.ts';
import { openEngine } from '../contract/container-engine.ts';

export interface DevContracts {
  readonly enabled: boolean;
  /** Address of the container engine. */
  readonly engine: string;
  /** Why contracts are not executed. */
  readonly why?: string;
}

/** Of a round, for one call of a contract. */
const ROUND_SHARE = 0.8;

export async function devContracts(engine: string): Promise<DevContracts> {
  try {
    await (await openEngine(engine)).close();
    return { enabled: true, engine };
  } catch (cause) {
    return { enabled: false, engine, why: (cause as Error).message };
  }
}

/** Settings in the form of `--set`, in addition to those of the file. */
export function contractSettings({ enabled, engine }: DevContracts, config: Config): string[] {
  if (!enabled) return [];
  const { consensus, custom } = config.blockchain;
  const roundMs =
    consensus.type === 'poa' ? consensus.roundDuration.ms : custom.genesis.averageBlockDelay.ms;
  const { executionLimits, restListen, remoteRegistries, allowedImages } = config.dockerEngine;
  const fetches = remoteRegistries.length + allowedImages.length > 0;
  const isShort = executionLimits.timeout.ms < roundMs;
  const timeout = `${Math.floor(roundMs * ROUND_SHARE)}ms`;
  return [
    'docker-engine.enable=yes',
    `docker-engine.docker-host=${engine}`,
    // Containers reach a node at the address that it has in their own network.
    ...(restListen === 'off' ? ['docker-engine.rest-listen=0.0.0.0:0'] : []),
    // Images are built here, and nodes warn where they may fetch and know no registry.
    ...(fetches ? [] : ['docker-engine.pull=never']),
    // A network of short rounds needs less than the default.
    ...(isShort ? [] : [`docker-engine.execution-limits.timeout=${timeout}`]),
  ];
}
