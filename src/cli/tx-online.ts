/** `platform-node tx sign|broadcast|send`: through the REST interface of a running node. */
import { RefusedError } from '../api/client.ts';
import { apiError } from '../base/errors.ts';
import { isObject, type JsonObject, parse } from '../base/json.ts';
import { fromVariable } from './account-passwords.ts';
import { convertAll, jsonDocuments, positive } from './documents.ts';
import { CliError, EXIT } from './exit.ts';
import { printJson } from './output.ts';
import { refusalLine } from './refusal-line.ts';
import { type NodeFlags, type RestNode, restNode } from './rest.ts';

interface Flags extends NodeFlags {
  ndjson?: true;
  concurrency: string;
  passwordEnv?: string;
}

const CONCURRENCY_MAX = 256;
const POLL_MS = 250;

export const broadcast = (source: string, flags: Flags): Promise<void> =>
  pipe(source, flags, (node, json) => node.post('/transactions/broadcast', json));

export function sign(source: string, flags: Flags): Promise<void> {
  const password = fromVariable(flags.passwordEnv);
  return pipe(source, flags, (node, json) =>
    node.post('/transactions/sign', password === undefined ? json : { password, ...json }),
  );
}

async function pipe(
  source: string,
  flags: Flags,
  convert: (node: RestNode, json: JsonObject) => Promise<unknown>,
): Promise<void> {
  const concurrency = positive(flags.concurrency, '--concurrency', CONCURRENCY_MAX);
  const node = restNode(flags);
  try {
    await convertAll(
      jsonDocuments(source, flags.ndjson === true),
      (json) => {
        if (!isObject(json)) throw apiError('MalformedJson');
        return convert(node, json);
      },
      concurrency,
    );
  } finally {
    await node.close();
  }
}

export async function send(
  type: string,
  fields: readonly string[],
  flags: Flags & { wait?: string },
): Promise<void> {
  const { allTypes } = await import('../tx/registry.ts');
  const def = allTypes.find(({ key, type: number }) => key === type || String(number) === type);
  if (def === undefined) {
    const known = allTypes.filter(({ internal }) => internal !== true).map(({ key }) => key);
    throw new CliError(`Unknown type '${type}'; known are ${known.join(', ')}`, EXIT.usage);
  }
  const password = fromVariable(flags.passwordEnv);
  const schemas = def.fields as Readonly<Record<string, { schema: JsonObject } | undefined>>;
  const json: JsonObject = { type: def.type, ...(password === undefined ? {} : { password }) };
  for (const field of fields) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(field) ?? [];
    if (name === undefined || text === undefined) {
      throw new CliError(`'${field}' must be written name=value`, EXIT.usage);
    }
    json[name] = schemas[name]?.schema['type'] === 'string' ? text : fieldValue(text);
  }
  const node = restNode(flags);
  try {
    const signed = await node.post('/transactions/sign', json);
    const sent = await node.post('/transactions/broadcast', signed);
    if (flags.wait === undefined || !isObject(sent)) return printJson(sent);
    printJson(await confirmed(node, String(sent['id']), positive(flags.wait, '--wait', 86_400)));
  } catch (cause) {
    if (!(cause instanceof RefusedError)) throw cause;
    printJson(refusalLine(cause));
    throw new CliError(cause.message);
  } finally {
    await node.close();
  }
}

/** JSON where it is JSON, else the text itself: amount=5, reissuable=true, alias=bob. */
function fieldValue(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return text;
  }
}

async function confirmed(node: RestNode, id: string, seconds: number): Promise<unknown> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    try {
      return await node.get(`/transactions/info/${id}`);
    } catch (cause) {
      if (!(cause instanceof RefusedError)) throw cause;
    }
    if (Date.now() > deadline) {
      throw new CliError(`The transaction ${id} is in no block after ${seconds} s`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
