/**
 * Fetching an image through the engine. Its answer begins before it knows whether it succeeds, so the
 * progress is read to the end: a line with an error is a failure whatever the status was.
 */
import type { Engine, ImageToPull, RegistryLogin } from './engine.ts';
import { isRecord } from './engine-client.ts';

/** The registry, the network or the size of the image is at fault. */
export class PullFailed extends Error {
  override name = 'PullFailed';
}

/** Compressed, all layers together; closing the connection ends a pull. */
const IMAGE_BYTES_MAX = 4 * 1024 ** 3;
const PULL_MS = 600_000;
const LAYERS_MAX = 1000;
const LINE_CHARS_MAX = 64 * 1024;
const REASON_CHARS_MAX = 500;

export async function pullImage(
  engine: Engine,
  name: ImageToPull,
  login: RegistryLogin | undefined,
  signal: AbortSignal,
): Promise<void> {
  const own = new AbortController();
  try {
    const both = AbortSignal.any([signal, own.signal, AbortSignal.timeout(PULL_MS)]);
    const layers = new Map<string, number>();
    for await (const line of lines(await engine.pull(name, login && authOf(login), both))) {
      judge(line, layers);
    }
  } finally {
    own.abort();
  }
}

function judge(line: string, layers: Map<string, number>): void {
  const progress = parsed(line);
  if (!isRecord(progress)) return;
  const { error, id, progressDetail } = progress;
  if (typeof error === 'string') throw new PullFailed(error.slice(0, REASON_CHARS_MAX));
  const total = isRecord(progressDetail) ? progressDetail['total'] : undefined;
  if (typeof id !== 'string' || typeof total !== 'number') return;
  layers.set(id, Math.max(total, layers.get(id) ?? 0));
  const bytes = [...layers.values()].reduce((sum, size) => sum + size, 0);
  if (layers.size > LAYERS_MAX) throw new PullFailed(`more than ${LAYERS_MAX} layers`);
  if (bytes > IMAGE_BYTES_MAX) throw new PullFailed(`more than ${IMAGE_BYTES_MAX} bytes`);
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
