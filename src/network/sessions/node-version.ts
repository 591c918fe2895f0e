/** Versions of nodes, as the handshake carries them. */
import type { Hello } from '../messages/handshake-messages.ts';

export type NodeVersion = Hello['version'];

export const versionText = ({ major, minor, patch }: NodeVersion): string =>
  `${major}.${minor}.${patch}`;

/** "1.1.0" or "1.1.0-rc1"; a part that is no number counts as 0. */
export function versionOf(text: string): NodeVersion {
  const [major = 0, minor = 0, patch = 0] = (/^\d+(\.\d+)*/.exec(text)?.[0] ?? '')
    .split('.')
    .map(Number);
  return { major, minor, patch };
}

export function isOlder(a: NodeVersion, b: NodeVersion): boolean {
  if (a.major !== b.major) return a.major < b.major;
  if (a.minor !== b.minor) return a.minor < b.minor;
  return a.patch < b.patch;
}
