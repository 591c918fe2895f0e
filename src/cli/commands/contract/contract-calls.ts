/** The calls that `platform-node contract` makes to a running node. */

import { apiError } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json/json.ts';
import { contracts } from '../../../rest/routes/contracts.ts';
import { transactions } from '../../../rest/routes/transactions.ts';
import type { Client } from '../../../rest-framework/client.ts';
import { createContract } from '../../../tx/types/103-create-contract.ts';
import { callContract } from '../../../tx/types/104-call-contract.ts';
import { disableContract } from '../../../tx/types/106-disable-contract.ts';
import { updateContract } from '../../../tx/types/107-update-contract.ts';
import type { NodeFlags, SignFlags } from '../../node-options.ts';
import { answerOf, convertByNode, printAnswer } from '../../rest-calls.ts';
import { confirmed, signerOf, waitSeconds } from '../../signed-calls.ts';
import { jsonDocuments, positive } from '../../terminal/documents.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';
import { printJson, say } from '../../terminal/output.ts';
import { execution, known, type Outcome } from './contract-execution.ts';
import type { ParamJson } from './contract-params.ts';

export interface DocumentFlags extends SignFlags {
  ndjson?: true;
  concurrency?: string;
}

export interface ImageFlags extends DocumentFlags {
  image?: string;
  imageHash?: string;
}

export interface CreateFlags extends ImageFlags {
  name?: string;
  param?: ParamJson[];
  version: string;
}

export interface CallFlags extends DocumentFlags {
  param?: ParamJson[];
  contractVersion?: string;
}

export interface StateFlags extends NodeFlags {
  key?: string[];
  matches?: string;
  limit?: string;
  offset?: string;
}

const CONCURRENCY_MAX = 256;
const VERSION_MAX = 2_147_483_647;

/** The members of a document win over the options. */
export const create = (source: string | undefined, flags: CreateFlags): Promise<void> =>
  each(source, flags, async (node, document, own) => {
    const { contractName = flags.name } = document;
    return execute(node, flags, {
      ...own,
      type: createContract.type,
      version: positive(flags.version, '--version', VERSION_MAX),
      ...imageOf(flags, document),
      contractName,
      params: paramsOf(document, flags.param),
    });
  });

export function call(
  contractId: string,
  source: string | undefined,
  flags: CallFlags,
): Promise<void> {
  let current: Promise<number> | undefined;
  return each(source, flags, async (node, document, own) => {
    current ??= versionOf(node, contractId, flags);
    return execute(node, flags, {
      ...own,
      type: callContract.type,
      version: 2,
      contractId,
      contractVersion: await current,
      params: paramsOf(document, flags.param),
    });
  });
}

export const update = (
  contractId: string,
  source: string | undefined,
  flags: ImageFlags,
): Promise<void> =>
  each(source, flags, async (node, document, own) =>
    execute(node, flags, {
      ...own,
      type: updateContract.type,
      version: 1,
      contractId,
      ...imageOf(flags, document),
    }),
  );

export const disable = (contractId: string, flags: SignFlags): Promise<void> =>
  printAnswer(flags, async (node) => {
    const seconds = secondsOf(flags);
    const sent = await send(node, flags, { type: disableContract.type, version: 1, contractId });
    return seconds === undefined ? sent : confirmed(node, sent, seconds);
  });

export const status = (id: string, flags: NodeFlags): Promise<void> =>
  printAnswer(flags, (node) => known(node, id));

export const show = (contractId: string | undefined, flags: NodeFlags): Promise<void> =>
  printAnswer(
    flags,
    ({ call: ask }): Promise<unknown> =>
      contractId === undefined
        ? ask(contracts.list)
        : ask(contracts.info, { params: { contractId } }),
  );

export function state(contractId: string, flags: StateFlags): Promise<void> {
  const { key: keys = [], matches, limit, offset } = flags;
  if (keys.length > 0 && (matches ?? limit ?? offset) !== undefined) {
    throw new CliError('--key excludes --matches, --limit and --offset', EXIT.usage);
  }
  return printAnswer(flags, ({ call: ask }): Promise<unknown> => {
    const [key] = keys;
    if (key === undefined) {
      return ask(contracts.state, { params: { contractId }, query: { matches, limit, offset } });
    }
    return keys.length === 1
      ? ask(contracts.entry, { params: { contractId, key } })
      : ask(contracts.stateOfKeys, { params: { contractId }, body: { keys } });
  });
}

/**
 * One transaction from the options alone, or one for each document of the source, with one line of
 * output for each. The exit code tells of the last failure.
 */
async function each(
  source: string | undefined,
  flags: DocumentFlags,
  run: (node: Client, document: JsonObject, own: JsonObject) => Promise<Outcome>,
): Promise<void> {
  if (source === undefined) {
    const { value, problem } = await answerOf(flags, (node) => run(node, {}, {}));
    printJson(value);
    if (problem !== undefined) throw problem;
    return;
  }
  let timestamp = 0;
  await convertByNode(
    jsonDocuments(source, flags.ndjson === true),
    flags,
    async (node, document) => {
      if (!isObject(document)) throw apiError('MalformedJson');
      // Equal calls of the same millisecond would be the same transaction.
      timestamp = Math.max(Date.now(), timestamp + 1);
      const { value, problem } = await run(node, document, { timestamp }).catch(invalidDocument);
      if (problem !== undefined) {
        say(problem.message);
        process.exitCode = problem.code;
      }
      return value;
    },
    positive(flags.concurrency ?? '1', '--concurrency', CONCURRENCY_MAX),
  );
}

/** What is wrong usage in an option is, in a document, the failure of this document alone. */
function invalidDocument(cause: unknown): never {
  const isUsage = cause instanceof CliError && cause.code === EXIT.usage;
  throw isUsage ? apiError('Invalid', cause.message) : cause;
}

async function execute(node: Client, flags: SignFlags, fields: JsonObject): Promise<Outcome> {
  const seconds = secondsOf(flags);
  const sent = await send(node, flags, fields);
  return seconds === undefined ? { value: sent } : execution(node, sent, seconds);
}

const secondsOf = ({ wait }: SignFlags): number | undefined =>
  wait === undefined ? undefined : waitSeconds(wait);

const send = (node: Client, flags: SignFlags, fields: JsonObject): Promise<JsonObject> =>
  node.call(transactions.signAndBroadcast, { body: { ...signerOf(flags), ...fields } });

function imageOf(flags: ImageFlags, document: JsonObject): JsonObject {
  const image = document['image'] ?? flags.image;
  const imageHash = document['imageHash'] ?? flags.imageHash;
  if (image !== undefined && imageHash !== undefined) return { image, imageHash };
  throw new CliError(
    "Give --image and --image-hash, or the output of 'platform-node contract build'",
    EXIT.usage,
  );
}

function paramsOf(document: JsonObject, fromFlags: readonly ParamJson[] = []): readonly unknown[] {
  const own = document['params'] ?? [];
  if (!Array.isArray(own)) throw new CliError("'params' must be a list", EXIT.usage);
  return [...fromFlags, ...(own as readonly unknown[])];
}

async function versionOf(
  { call: ask }: Client,
  contractId: string,
  { contractVersion }: CallFlags,
): Promise<number> {
  if (contractVersion !== undefined) {
    return positive(contractVersion, '--contract-version', VERSION_MAX);
  }
  return (await ask(contracts.info, { params: { contractId } })).version;
}
