/**
 * What a container may do, as the engine is told (contracts.md#what-a-container-may-do): a fixed share
 * of memory, processor and processes, no capability, no way to gain one, a root that it cannot write,
 * and no network except one on which it is alone.
 */
import type { ContainerSetup } from './container-interface.ts';
import type { ImageInfo } from './engine.ts';
import { Failed, lasting } from './failures.ts';

export interface ContainerLimits {
  readonly memoryMb: number;
  /** On top of the memory. */
  readonly memorySwapMb: number;
  readonly cpus: number;
  readonly pids: number;
}

export interface ContainerDefinition {
  readonly image: ImageInfo;
  readonly limits: ContainerLimits;
  readonly labels: Readonly<Record<string, string>>;
  readonly setup: ContainerSetup;
  /** Name of its network; undefined: none. */
  readonly network: string | undefined;
  /** True where the engine has a first process that collects ended ones. */
  readonly hasInit: boolean;
}

const MB = 1024 * 1024;
const NANO = 1_000_000_000;
const UNPRIVILEGED = '10001:10001';
const SCRATCH_BYTES = 16 * MB;
const VOLUMES_MAX = 16;
const OPEN_FILES_MAX = 1024;
/** Under memory pressure the machine ends a container before it ends anything else. */
const ENDED_FIRST = 500;

/** The body of the call that creates a container. Throws Failed where the image asks for too much. */
export function containerDefinition(of: ContainerDefinition): Readonly<Record<string, unknown>> {
  const { image, limits, labels, setup, network, hasInit } = of;
  if (image.volumes.length > VOLUMES_MAX) {
    throw new Failed(lasting(`The image declares more than ${VOLUMES_MAX} volumes`));
  }
  // The user of an image may be root by name or number, with or without a group.
  const isRoot = /^(?:root|0+)?(?::.*)?$/.test(image.user);
  const user = isRoot ? UNPRIVILEGED : image.user;
  return {
    // Never a name: it may mean another image by now.
    Image: `sha256:${image.id}`,
    Env: Object.entries(setup.env).map(([name, value]) => `${name}=${value}`),
    Labels: labels,
    User: user,
    Healthcheck: { Test: ['NONE'] },
    StopTimeout: 1,
    HostConfig: {
      Memory: limits.memoryMb * MB,
      MemorySwap: (limits.memoryMb + limits.memorySwapMb) * MB,
      NanoCpus: limits.cpus * NANO,
      PidsLimit: limits.pids,
      OomScoreAdj: ENDED_FIRST,
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      NetworkMode: network ?? 'none',
      Tmpfs: { '/tmp': `rw,noexec,nosuid,size=${SCRATCH_BYTES}${ownerOf(user)}` },
      ShmSize: SCRATCH_BYTES,
      Ulimits: [{ Name: 'nofile', Soft: OPEN_FILES_MAX, Hard: OPEN_FILES_MAX }],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '1' } },
      Mounts: [...setup.mounts.map(bind), ...image.volumes.map(scratch)],
      ...(hasInit ? { Init: true } : {}),
    },
  };
}

const bind = ({ source, target }: ContainerSetup['mounts'][number]) => ({
  Type: 'bind',
  Source: source,
  Target: target,
  ReadOnly: true,
});

/** The folder gets the mode that it has in the image, so it must belong to the user to be of use. */
function ownerOf(user: string): string {
  const [, uid, gid] = /^(\d+)(?::(\d+))?$/.exec(user) ?? [];
  return (uid === undefined ? '' : `,uid=${uid}`) + (gid === undefined ? '' : `,gid=${gid}`);
}

/** A volume of the image would be a folder on the disk of the machine, without a limit. */
const scratch = (target: string) => ({
  Type: 'tmpfs',
  Target: target,
  TmpfsOptions: { SizeBytes: SCRATCH_BYTES, Mode: 0o1777 },
});
