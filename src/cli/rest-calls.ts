/**
 * Calls to a running node, through the client that follows from the declarations of the routes. A
 * command imports only the file of routes that it needs. Loading all of them takes three times as
 * long, for each call in a pipeline.
 */
import { undiciClient } from '../adapters/http/undici.ts';
import { isObject } from '../base/json/json.ts';
import { type Client, client, RefusedError } from '../rest-framework/client.ts';
import type { NodeFlags } from './node-options.ts';
import { convertAll } from './terminal/documents.ts';
import { CliError, EXIT } from './terminal/exit.ts';
import { printJson } from './terminal/output.ts';
import { refusalLine } from './terminal/refusal-line.ts';
import { clientTls } from './tls/client-tls.ts';

export interface RestNode extends Client {
  close(): Promise<void>;
}

/** Rejects with RefusedError where the node refuses, and with CliError where no node answers. */
export function restNode(flags: NodeFlags): RestNode {
  const { url, apiKey } = flags;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new CliError(`'${url}' is no URL of a node, such as http://127.0.0.1:6862`, EXIT.usage);
  }
  const http = undiciClient(clientTls(flags));
  const { call } = client(
    {
      request: (asked) =>
        http.request(asked).catch((cause: Error) => {
          throw new CliError(`No node answers at ${url}: ${cause.message || cause.name}`);
        }),
      close: http.close,
    },
    url,
    { apiKey },
  );
  return { call, close: http.close };
}

/** `convertAll` through a node. */
export async function convertByNode(
  documents: AsyncIterable<() => unknown>,
  flags: NodeFlags,
  convert: (node: Client, document: unknown) => Promise<unknown>,
  concurrency = 1,
): Promise<void> {
  const node = restNode(flags);
  try {
    await convertAll(documents, (document) => convert(node, document), concurrency);
  } finally {
    await node.close();
  }
}

/** Sends the request and prints the answer. A refusal is printed unchanged, with exit code 1. */
export async function printAnswer(
  flags: NodeFlags,
  ask: (node: Client) => Promise<unknown>,
): Promise<void> {
  const value = await answerOf(flags, ask);
  printJson(value);
  if (isStatusError(value)) throw new CliError(value.details);
}

/** The answer, for commands that print something else; a refusal is printed as above. */
export async function answerOf<T>(flags: NodeFlags, ask: (node: Client) => Promise<T>): Promise<T> {
  const node = restNode(flags);
  try {
    return await ask(node);
  } catch (cause) {
    if (!(cause instanceof RefusedError)) throw cause;
    printJson(refusalLine(cause));
    throw new CliError(`${cause.message}${missingKey(cause, flags)}`);
  } finally {
    await node.close();
  }
}

/** Where a command takes its key from, for who gave none. The node knows nothing but the header. */
function missingKey({ body }: RefusedError, { apiKey = '' }: NodeFlags): string {
  const variable = apiKey === '' && isObject(body) ? KEY_VARIABLES.get(body['error']) : undefined;
  return variable === undefined ? '' : `, by --api-key or the variable ${variable}`;
}

/** By the code of the refusal. */
const KEY_VARIABLES: ReadonlyMap<unknown, string> = new Map([
  [2, 'PLATFORM_NODE_API_KEY'],
  [614, 'PLATFORM_NODE_PRIVACY_API_KEY'],
]);

/**
 * For a block that does not exist, the answer has status 200 and an error status in its body
 * (rest.md#errors).
 */
function isStatusError(value: unknown): value is { readonly details: string } {
  return isObject(value) && value['status'] === 'error' && typeof value['details'] === 'string';
}
