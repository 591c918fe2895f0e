/**
 * Machines with a network between them, on one: a namespace each, connected by a bridge in one more. The
 * namespaces that the machine has are not touched.
 */
import { spawnSync } from 'node:child_process';
import type { Scope } from './process.ts';

export interface Namespace {
  /** The words before a command that runs there. */
  readonly within: readonly string[];
}

/** One for each address of a /24. Throws Error with the reason where that is not permitted here. */
export function namespaces(scope: Scope, addresses: readonly string[]): readonly Namespace[] {
  const prefix = `pn${process.pid}`;
  const hub = `${prefix}-hub`;
  const names = addresses.map((_, i) => `${prefix}-${i}`);
  scope.teardown(() => {
    for (const name of [...names, hub]) spawnSync('ip', ['netns', 'del', name]);
  });
  ip('netns', 'add', hub);
  ip('-n', hub, 'link', 'add', 'bridge', 'type', 'bridge');
  ip('-n', hub, 'link', 'set', 'bridge', 'up');
  return names.map((name, i) => {
    ip('netns', 'add', name);
    ip('-n', name, 'link', 'set', 'lo', 'up');
    const port = `port${i}`;
    ip('-n', hub, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'uplink', 'netns', name);
    ip('-n', hub, 'link', 'set', port, 'master', 'bridge', 'up');
    ip('-n', name, 'address', 'add', `${addresses[i]}/24`, 'dev', 'uplink');
    ip('-n', name, 'link', 'set', 'uplink', 'up');
    return { within: ['ip', 'netns', 'exec', name] };
  });
}

function ip(...words: readonly string[]): void {
  const { status, error, stderr } = spawnSync('ip', words, { encoding: 'utf8' });
  if (status === 0) return;
  const why = error?.message ?? stderr.trim();
  throw new Error(`network namespaces are not permitted here: ip ${words.join(' ')}: ${why}`);
}
