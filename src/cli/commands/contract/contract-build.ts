/**
 * `platform-node contract build`: an image from a project, made by the engine.
 *
 * Without --tag the tag is the start of the image's id. So a later build does not take the name from
 * an image that a contract on the chain still uses.
 */
import type { Engine } from '../../../adapters/containers/engine.ts';
import { isObject } from '../../../base/json/json.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';
import { printJson } from '../../terminal/output.ts';
import { buildContext } from './build-context.ts';
import { openEngine } from './container-engine.ts';
import { projectName } from './contract-project.ts';
import { tar } from './tar.ts';

export interface BuildFlags {
  readonly tag?: string;
  readonly dockerHost: string;
}

const TAG_CHARACTERS = 12;
const LINE_CHARACTERS_MAX = 1024 * 1024;
const OUTPUT_LINES = 20;

export async function build(folder: string, { tag, dockerHost }: BuildFlags): Promise<void> {
  const named = tag === undefined ? undefined : nameAndTag(tag);
  const entries = await buildContext(folder);
  const engine = await openEngine(dockerHost);
  try {
    const imageHash = await built(engine, tar(entries));
    const [name, suffix] = named ?? [projectName(folder), imageHash.slice(0, TAG_CHARACTERS)];
    await engine.tag(imageHash, name, suffix);
    const image = await engine.image(imageHash);
    printJson({ image: `${name}:${suffix}`, imageHash, size: image?.bytes });
  } finally {
    await engine.close();
  }
}

/** A colon before the last slash belongs to a registry's port. */
function nameAndTag(text: string): readonly [string, string] {
  const [, name, tag] = /^([^\s@]+?)(?::([\w.-]+))?$/.exec(text) ?? [];
  if (name === undefined) throw new CliError(`--tag ${text}: expected name:tag`, EXIT.usage);
  return [name, tag ?? 'latest'];
}

/** The id of the new image, in 64 hexadecimal digits. */
async function built(engine: Engine, archive: AsyncIterable<Uint8Array>): Promise<string> {
  const signal = new AbortController().signal;
  const output: string[] = [];
  let id: string | undefined;
  for await (const message of messages(await engine.build(archive, signal))) {
    const { stream, aux, error } = message;
    if (typeof stream === 'string' && stream.trim() !== '') output.push(stream.trimEnd());
    if (isObject(aux) && typeof aux['ID'] === 'string') id = aux['ID'].replace(/^sha256:/, '');
    if (typeof error === 'string') {
      const steps = output.slice(-OUTPUT_LINES).join('\n');
      throw new CliError(`${steps}\nThe image cannot be built: ${error}`);
    }
  }
  if (id === undefined) throw new CliError('The engine has ended the build without an image');
  return id;
}

/** Progress comes as one JSON object a line. */
async function* messages(pieces: AsyncIterable<Uint8Array>) {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true });
    if (rest.length > LINE_CHARACTERS_MAX) throw new CliError('A line of the engine is too long');
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield parsed(line);
  }
  if (rest.trim() !== '') yield parsed(rest);
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(line);
  return isObject(value) ? value : {};
}
