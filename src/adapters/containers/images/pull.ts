/**
 * Fetching an image through the engine. Its answer begins before it knows whether it succeeds, so the
 * progress is read to the end: a line with an error is a failure whatever the status was.
 */
import { isObject } from '../../../base/json/json.ts';
import { contractLimits } from '../../../base/limits/contract-limits.ts';
import type { Engine, ImageToPull, RegistryLogin } from '../engine.ts';

/** The registry, the network or the engine is at fault. */
class PullFailed extends Error {
  override name = 'PullFailed';
}

/** Whatever the manifest and the registry have said, more bytes arrive than an image may have. */
export class PullTooBig extends Error {
  override name = 'PullTooBig';
}

/** Layers, and what else the engine reports on. */
const PARTS_MAX = contractLimits.pullParts.value;
const LINE_CHARS_MAX = contractLimits.pullLine.value;
const REASON_CHARS_MAX = 500;

/** Closing the connection ends a pull, so nothing arrives after this rejects. */
export async function pullImage(
  engine: Engine,
  name: ImageToPull,
  { login, bytesMax }: { readonly login: RegistryLogin | undefined; readonly bytesMax: number },
  signal: AbortSignal,
): Promise<void> {
  const own = new AbortController();
  try {
    const both = AbortSignal.any([signal, own.signal]);
    const parts = new Map<string, number>();
    for await (const line of lines(await engine.pull(name, login && authOf(login), both))) {
      judge(line, parts, bytesMax);
    }
  } finally {
    own.abort();
  }
}

function judge(line: string, parts: Map<string, number>, bytesMax: number): void {
  const progress = parsed(line);
  if (!isObject(progress)) return;
  const { error, id, progressDetail } = progress;
  if (typeof error === 'string') throw new PullFailed(error.slice(0, REASON_CHARS_MAX));
  if (typeof id !== 'string' || !isObject(progressDetail)) return;
  const sizes = [progressDetail['total'], progressDetail['current'], parts.get(id)];
  parts.set(id, Math.max(0, ...sizes.filter((size) => typeof size === 'number')));
  const bytes = [...parts.values()].reduce((sum, size) => sum + size, 0);
  if (parts.size > PARTS_MAX) throw new PullFailed(`more than ${PARTS_MAX} layers`);
  if (bytes > bytesMax) throw new PullTooBig(`more than ${bytesMax} bytes`);
}

function parsed(line: string): unknown {
  try {
    return line.trim() === '' ? undefined : JSON.parse(line);
  } catch (cause) {
    throw new PullFailed('the engine reports no progress in JSON', { cause });
  }
}

async function* lines(pieces: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces) {
    const parts = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    if (rest.length > LINE_CHARS_MAX) throw new PullFailed('a line of progress has no end');
    yield* parts;
  }
  yield rest;
}

/** The header in which the engine takes the login of a registry. */
const authOf = ({ domain, username, password }: RegistryLogin): string =>
  Buffer.from(JSON.stringify({ serveraddress: domain, username, password })).toString('base64url');
