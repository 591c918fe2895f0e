/**
 * A Docker Engine of our own: `dockerd` with all its files in one folder and without a rule in the
 * firewall, so that it disturbs no other engine of the machine. It needs root.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { answers, containersWith, engineCall } from './api.ts';

const START_MS_MAX = 60_000;
const STOP_MS_MAX = 20_000;
const WAIT_MS = 50;
const BELOW_NORMAL = constants.priority.PRIORITY_BELOW_NORMAL;

/** Why this machine cannot start an engine; undefined where it can. */
export function whyNoDaemon(): string | undefined {
  if (process.platform !== 'linux') return 'a private container engine needs Linux';
  if (process.getuid?.() !== 0) return 'a private container engine needs root';
  if (spawnSync('dockerd', ['--version']).status !== 0) {
    return 'dockerd is not installed (Debian: apt install docker.io)';
  }
  return undefined;
}

export const socketIn = (folder: string): string => join(folder, 'docker.sock');

export interface DaemonOptions {
  /** The processors go to others first, as the guide of the engine wants it. */
  readonly givesWay?: boolean;
  /** Of all its networks; each gets 64. */
  readonly addresses?: string;
}

/** Resolves once the engine answers. Its output is in `dockerd.log` of the folder. */
export async function startDaemon(
  folder: string,
  { givesWay = false, addresses = '10.219.0.0/16' }: DaemonOptions = {},
): Promise<ChildProcess> {
  mkdirSync(folder, { recursive: true });
  mountControlGroups();
  const log = openSync(join(folder, 'dockerd.log'), 'a');
  const child = spawn(
    'nice',
    [
      '-n',
      givesWay ? String(BELOW_NORMAL) : '0',
      'dockerd',
      '--iptables=false',
      '--bridge=none',
      // The pools of the default hold 31 networks, which all engines of the machine share.
      `--default-address-pool=base=${addresses},size=26`,
      `--data-root=${join(folder, 'data')}`,
      `--exec-root=${join(folder, 'exec')}`,
      `--host=unix://${socketIn(folder)}`,
      `--pidfile=${join(folder, 'pid')}`,
    ],
    { stdio: ['ignore', log, log] },
  );
  const started = performance.now();
  while (!(await answers(socketIn(folder)))) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (hasEnded || performance.now() - started > START_MS_MAX) {
      child.kill('SIGKILL');
      const lines = readFileSync(join(folder, 'dockerd.log'), 'utf8').trim().split('\n');
      throw new Error(`dockerd does not start: ${lines.slice(-5).join('\n')}`);
    }
    await pause();
  }
  return child;
}

/** Gives an engine that has not begun a disk of its own, in memory. */
export function giveDisk(folder: string, size: string): void {
  const data = join(folder, 'data');
  mkdirSync(data, { recursive: true });
  const { status, stderr } = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${size}`,
    'tmpfs',
    data,
  ]);
  if (status !== 0) throw new Error(`no disk in memory: ${stderr}`);
}

/** As a crash: containers live on, but the process that manages them ends too. */
export async function killDaemon(child: ChildProcess, folder: string): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  const path = join(folder, 'exec', 'containerd', 'containerd.pid');
  const pid = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  while (pid > 0 && existsSync(`/proc/${pid}`)) await pause();
  rmSync(join(folder, 'pid'), { force: true });
}

/** Resolves once the process has ended, and its containers with it. */
export async function stopDaemon(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGCONT');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await ended;
  clearTimeout(late);
}

/** Ends the engine with its containers and leaves nothing of its folder. */
export async function removeDaemon(child: ChildProcess, folder: string): Promise<void> {
  const socket = socketIn(folder);
  if (await answers(socket)) {
    for (const { Id } of await containersWith(socket, undefined).catch(() => [])) {
      const { body } = await engineCall(socket, `/containers/${Id}?force=1&v=1`, {
        method: 'DELETE',
      });
      body.resume();
    }
  }
  await stopDaemon(child);
  removeFolder(folder);
}

/** Removes what an engine that has ended left in its folder. */
export function removeFolder(folder: string): void {
  // What a container that was killed with its engine leaves mounted.
  for (const mounted of mountsIn(folder).reverse()) spawnSync('umount', ['-l', mounted]);
  for (const bridge of bridgesOf(folder)) spawnSync('ip', ['link', 'delete', bridge]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Processes of an engine: each has a path in its folder among its arguments. */
export function processesOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => argumentsOf(pid).includes(`${folder}/exec`))
    .map(Number);
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}

/** An engine leaves the bridges of its networks in the kernel, where they keep their addresses. */
function bridgesOf(folder: string): string[] {
  const path = join(folder, 'data', 'network', 'files', 'local-kv.db');
  if (!existsSync(path)) return [];
  return [...new Set(readFileSync(path, 'latin1').match(/br-[0-9a-f]{12}/g))];
}

function mountsIn(folder: string): string[] {
  const paths = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return paths.filter((path) => path.startsWith(`${folder}/`));
}

const CONTROL_GROUPS = '/sys/fs/cgroup';
const CONTROLLERS = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids'];

/** A bare machine without an init system has no control groups, without which no container starts. */
function mountControlGroups(): void {
  const isMounted = readFileSync('/proc/self/mounts', 'utf8').includes(` ${CONTROL_GROUPS}`);
  if (isMounted || !existsSync(CONTROL_GROUPS)) return;
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'cgroup', CONTROL_GROUPS]);
  for (const controller of CONTROLLERS) {
    const path = join(CONTROL_GROUPS, controller);
    mkdirSync(path, { recursive: true });
    spawnSync('mount', ['-t', 'cgroup', '-o', controller, 'cgroup', path]);
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, WAIT_MS));
