/**
 * The transport key of a node: a file of its own with 64 raw bytes of Ed25519 that only its owner
 * can read. It identifies a process on the network and has no role on the chain. A lost key is
 * replaced at the next start.
 */
import { generateKeyPair } from '@libp2p/crypto/keys';
import type { Files } from '../../base/ports/files.ts';

const KEY_BYTES = 64;

export async function nodeKey(path: string, files: Files): Promise<Uint8Array> {
  const stored = files.read(path);
  if (stored?.length === KEY_BYTES) return stored;
  const { raw } = await generateKeyPair('Ed25519');
  files.replace(path, raw, { secret: true });
  return raw;
}
