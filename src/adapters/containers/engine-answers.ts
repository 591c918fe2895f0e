/** What the answers of the Docker Engine API say. Each throws EngineAway where a field is missing. */

import { isIP } from 'node:net';
import { type IpRange, ipRange, isInRanges } from '../../base/ip-range.ts';
import { isObject } from '../../base/json/json.ts';
import type { ContainerNetwork } from './container-interface.ts';
import { EngineAway } from './engine-client.ts';

export interface ImageInfo {
  /** Without `sha256:`. */
  readonly id: string;
  /** Names with tags, and names with digests. */
  readonly names: readonly string[];
  readonly user: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Paths that the image declares as volumes. */
  readonly volumes: readonly string[];
  readonly bytes: number;
}

/** As images name it. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
}

export interface InsecureRegistries {
  readonly domains: readonly string[];
  /** Addresses and ranges of them. */
  readonly ranges: readonly string[];
}

/** The machine of the engine. */
export interface EngineMachine {
  readonly memoryBytes: number;
  readonly processors: number;
  /** Folders of images, as the engine sees them. */
  readonly folders: readonly string[];
  readonly insecure: InsecureRegistries;
}

/** The calls of the node mean the same in all later versions. */
const VERSION = '1.41';
const VERSION_MIN = '1.40';

/** Between the versions that the engine speaks, the one closest to ours. */
export function versionFor(answer: unknown): string {
  const newest = textField(answer, 'ApiVersion');
  const oldest = isObject(answer) ? answer['MinAPIVersion'] : undefined;
  if (isNewer(VERSION_MIN, newest)) {
    throw new EngineAway(
      `version ${newest} of the engine's interface is older than ${VERSION_MIN}`,
    );
  }
  if (typeof oldest === 'string' && isNewer(oldest, VERSION)) return oldest;
  return isNewer(VERSION, newest) ? newest : VERSION;
}

function isNewer(left: string, right: string): boolean {
  const [major = 0, minor = 0] = left.split('.').map(Number);
  const [majorRight = 0, minorRight = 0] = right.split('.').map(Number);
  return major === majorRight ? minor > minorRight : major > majorRight;
}

/** In what the engine differs from others, where that matters to the definition of a container. */
export interface EngineKind {
  /** It has a first process that collects ended ones. */
  readonly hasInit: boolean;
  readonly isPodman: boolean;
}

/** An engine lists the program of the first process among its components where it has found it. */
export function kindOf(answer: unknown): EngineKind {
  const components = isObject(answer) ? answer['Components'] : undefined;
  const list = Array.isArray(components) ? components.filter(isObject) : [];
  return {
    hasInit: list.some(({ Name, Version }) => Name === 'docker-init' && Version !== 'N/A'),
    isPodman: list.some(({ Name }) => Name === 'Podman Engine'),
  };
}

export function imageInfo(answer: unknown): ImageInfo {
  const config = isObject(answer) && isObject(answer['Config']) ? answer['Config'] : {};
  const list = (name: string): string[] => {
    const value = isObject(answer) ? answer[name] : undefined;
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  };
  const labels = isObject(config['Labels']) ? Object.entries(config['Labels']) : [];
  return {
    id: textField(answer, 'Id')
      .replace(/^sha256:/, '')
      .toLowerCase(),
    names: [...list('RepoTags'), ...list('RepoDigests')],
    user: typeof config['User'] === 'string' ? config['User'] : '',
    labels: Object.fromEntries(labels.map(([name, value]) => [name, String(value)])),
    bytes: numberField(answer, 'Size'),
    volumes: isObject(config['Volumes']) ? Object.keys(config['Volumes']) : [],
  };
}

/** The engine puts a slash before the names of containers. */
export function nameIn(answer: unknown, what: 'containers' | 'networks'): string {
  if (what === 'networks') return textField(answer, 'Name');
  const names = isObject(answer) ? answer['Names'] : undefined;
  const [name] = Array.isArray(names) ? names : [];
  return typeof name === 'string' ? name.replace(/^\//, '') : textField(answer, 'Id');
}

export function networkIn(answer: unknown): ContainerNetwork {
  const ipam = isObject(answer) ? answer['IPAM'] : undefined;
  const listed = isObject(ipam) ? ipam['Config'] : undefined;
  const configs: unknown[] = Array.isArray(listed) ? listed : [];
  const ranges = configs.flatMap((config): IpRange[] => {
    const subnet = isObject(config) ? config['Subnet'] : undefined;
    const range = typeof subnet === 'string' ? ipRange(subnet) : undefined;
    return range === undefined ? [] : [range];
  });
  const gateway = textField(configs[0], 'Gateway');
  if (isIP(gateway) === 0) {
    throw new EngineAway('a network on which the machine has no address');
  }
  return {
    gateway,
    includes: (address) => isInRanges(address, ranges),
  };
}

export function textField(answer: unknown, name: string): string {
  const value = isObject(answer) ? answer[name] : undefined;
  if (typeof value !== 'string') throw new EngineAway(`an answer without ${name}`);
  return value;
}

export function numberField(answer: unknown, name: string): number {
  const value = isObject(answer) ? answer[name] : undefined;
  if (typeof value !== 'number') throw new EngineAway(`an answer without ${name}`);
  return value;
}

export function processesIn(answer: unknown): number | undefined {
  const stats = isObject(answer) ? answer['pids_stats'] : undefined;
  const current = isObject(stats) ? stats['current'] : undefined;
  return typeof current === 'number' ? current : undefined;
}

/** Engines that do not say it run on Linux; then every architecture may be meant. */
export function platformIn(answer: unknown): Platform {
  const field = (name: string): string => {
    const value = isObject(answer) ? answer[name] : undefined;
    return typeof value === 'string' ? value : '';
  };
  return { os: field('Os') || 'linux', architecture: field('Arch') };
}

/** Where containerd keeps images, for engines that store them there. */
const CONTAINERD_FOLDER = '/var/lib/containerd';

export function machineIn(answer: unknown): EngineMachine {
  const root = isObject(answer) ? answer['DockerRootDir'] : undefined;
  const config = isObject(answer) ? answer['RegistryConfig'] : undefined;
  const { InsecureRegistryCIDRs: ranges, IndexConfigs: indexes } = isObject(config) ? config : {};
  const isPlain = (index: unknown): boolean => isObject(index) && index['Secure'] === false;
  const domains = isObject(indexes) ? Object.entries(indexes) : [];
  return {
    memoryBytes: numberField(answer, 'MemTotal'),
    processors: numberField(answer, 'NCPU'),
    folders:
      typeof root !== 'string' ? [] : usesContainerd(answer) ? [root, CONTAINERD_FOLDER] : [root],
    insecure: {
      domains: domains.flatMap(([domain, index]) => (isPlain(index) ? [domain] : [])),
      ranges: Array.isArray(ranges) ? ranges.filter((one) => typeof one === 'string') : [],
    },
  };
}

function usesContainerd(answer: unknown): boolean {
  const rows = isObject(answer) ? answer['DriverStatus'] : undefined;
  return (
    Array.isArray(rows) &&
    rows.some((row) => Array.isArray(row) && String(row[1]).startsWith('io.containerd.snapshotter'))
  );
}
