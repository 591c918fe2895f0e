/** `platform-node tx sign|broadcast`: sends documents to the REST interface of a running node. */

import { apiError } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json/json.ts';
import { transactions } from '../../../rest/routes/transactions.ts';
import type { Client } from '../../../rest-framework/client.ts';
import type { NodeFlags } from '../../node-options.ts';
import { convertByNode } from '../../rest-calls.ts';
import { passwordOf } from '../../signed-calls.ts';
import { jsonDocuments, positive } from '../../terminal/documents.ts';
import { EXIT } from '../../terminal/exit.ts';

export interface OnlineFlags extends NodeFlags {
  ndjson?: true;
  concurrency: string;
  passwordEnv?: string;
}

const CONCURRENCY_MAX = 256;

export const broadcast = (source: string, flags: OnlineFlags): Promise<void> =>
  pipe(source, flags, ({ call }, body) => call(transactions.broadcast, { body }));

export function sign(source: string, flags: OnlineFlags): Promise<void> {
  const password = passwordOf(flags);
  // The members of a line win over the options.
  return pipe(source, flags, ({ call }, json) =>
    call(transactions.sign, { body: { ...password, ...json } }),
  );
}

/** A failure of the previous command in the pipe; it stays at its place. */
const isFailureLine = (json: JsonObject): boolean =>
  json['error'] !== undefined && json['type'] === undefined;

async function pipe(
  source: string,
  flags: OnlineFlags,
  convert: (node: Client, json: JsonObject) => Promise<unknown>,
): Promise<void> {
  await convertByNode(
    jsonDocuments(source, flags.ndjson === true),
    flags,
    async (node, json) => {
      if (!isObject(json)) throw apiError('MalformedJson');
      if (isFailureLine(json)) {
        process.exitCode = EXIT.failure;
        return json;
      }
      return convert(node, json);
    },
    positive(flags.concurrency, '--concurrency', CONCURRENCY_MAX),
  );
}
