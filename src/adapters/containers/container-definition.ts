/**
 * What a container may do, as the engine is told (contracts.md#what-a-container-may-do): a fixed share
 * of memory, processor and processes, no capability, no way to gain one, a root that it cannot write,
 * and no network except one on which it is alone.
 */
import { contractLimits } from '../../base/limits/contract-limits.ts';
import type { Capacity } from './capacity.ts';
import type { ContainerSetup } from './container-interface.ts';
import type { EngineKind, ImageInfo } from './engine-answers.ts';
import { Failed, lasting } from './failures.ts';

export interface ContainerLimits {
  readonly memoryMb: number;
  /** On top of the memory. */
  readonly memorySwapMb: number;
  readonly cpus: number;
  readonly pids: number;
  /** Control group above those of the containers; undefined: that of the engine. */
  readonly cgroupParent: string | undefined;
}

export interface ContainerDefinition {
  readonly image: ImageInfo;
  readonly limits: ContainerLimits;
  readonly capacity: Capacity;
  readonly labels: Readonly<Record<string, string>>;
  readonly setup: ContainerSetup;
  /** Name of its network; undefined: none. */
  readonly network: string | undefined;
  readonly engine: EngineKind;
}

const MB = 1024 * 1024;
const NANO = 1_000_000_000;
const UNPRIVILEGED = '10001';
/** The largest number of a user or group that the engine takes. */
const ID_MAX = 2 ** 31 - 1;
const SCRATCH_BYTES = contractLimits.scratch.value;
const VOLUMES_MAX = contractLimits.volumes.value;
const OPEN_FILES_MAX = contractLimits.openFiles.value;
const LOG_BYTES_MAX = contractLimits.engineLog.value;
/** Under memory pressure the machine ends a container before it ends anything else. */
const ENDED_FIRST = 500;

/** The body of the call that creates a container. Throws Failed where the image asks for too much. */
export function containerDefinition(of: ContainerDefinition): Readonly<Record<string, unknown>> {
  const { image, limits, capacity, labels, setup, network, engine } = of;
  if (image.volumes.length > VOLUMES_MAX) {
    throw new Failed(lasting(`The image declares more than ${VOLUMES_MAX} volumes`));
  }
  const [uid, gid] = userOf(image.user);
  const scratch = `rw,noexec,nosuid,size=${SCRATCH_BYTES},${
    engine.isPodman ? 'mode=1777,notmpcopyup' : `uid=${uid},gid=${gid}`
  }`;
  // Podman lets files of a mount run, whatever is asked for; Docker makes a volume beside the other kind.
  const volumes = engine.isPodman ? image.volumes : [];
  const mounts = engine.isPodman ? [] : image.volumes.map(scratchMount);
  return {
    // Never a name: it may mean another image by now.
    Image: `sha256:${image.id}`,
    Env: Object.entries(setup.env).map(([name, value]) => `${name}=${value}`),
    Labels: labels,
    User: `${uid}:${gid}`,
    Healthcheck: { Test: ['NONE'] },
    StopTimeout: 1,
    HostConfig: {
      Memory: limits.memoryMb * MB,
      MemorySwap: (limits.memoryMb + limits.memorySwapMb) * MB,
      NanoCpus: capacity.cpus * NANO,
      CpuShares: capacity.cpuShares,
      ...(limits.cgroupParent === undefined ? {} : { CgroupParent: limits.cgroupParent }),
      PidsLimit: limits.pids,
      OomScoreAdj: ENDED_FIRST,
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      NetworkMode: network ?? 'none',
      Tmpfs: Object.fromEntries(['/tmp', ...volumes].map((path) => [path, scratch])),
      ShmSize: SCRATCH_BYTES,
      Ulimits: [{ Name: 'nofile', Soft: OPEN_FILES_MAX, Hard: OPEN_FILES_MAX }],
      LogConfig: {
        Type: 'json-file',
        Config: { 'max-size': String(LOG_BYTES_MAX), 'max-file': '1' },
      },
      Mounts: [...setup.mounts.map(bind), ...mounts],
      ...(engine.hasInit ? { Init: true } : {}),
    },
  };
}

const bind = ({ source, target }: ContainerSetup['mounts'][number]) => ({
  Type: 'bind',
  Source: source,
  Target: target,
  ReadOnly: true,
});

/**
 * A name means whatever number the image says, root included, and a user without a group gets that of
 * root. So both are positive numbers, or those of nobody. `/tmp` gets the mode that it has in the
 * image, so it must belong to the user to be of use; Podman lets it belong to nobody but root.
 */
function userOf(user: string): readonly [uid: string, gid: string] {
  const [uid = '', gid = ''] = user.split(':', 2);
  return isPositive(uid)
    ? [uid, isPositive(gid) ? gid : UNPRIVILEGED]
    : [UNPRIVILEGED, UNPRIVILEGED];
}

const isPositive = (text: string): boolean => /^[1-9]\d{0,9}$/.test(text) && Number(text) <= ID_MAX;

/** A volume of the image would be a folder on the disk of the machine, without a limit. */
const scratchMount = (target: string) => ({
  Type: 'tmpfs',
  Target: target,
  TmpfsOptions: { SizeBytes: SCRATCH_BYTES, Mode: 0o1777 },
});
