/** The calls that `platform-node policy` makes to a running node. */

import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { base58 } from '../../../base/base58.ts';
import type { JsonObject } from '../../../base/json/json.ts';
import { PRIVATE_DATA_BYTES_MAX } from '../../../base/ports/private-store.ts';
import { privacy } from '../../../rest/routes/privacy.ts';
import { transactions } from '../../../rest/routes/transactions.ts';
import type { Client } from '../../../rest-framework/client.ts';
import { createPolicy } from '../../../tx/types/112-create-policy.ts';
import { updatePolicy } from '../../../tx/types/113-update-policy.ts';
import type { NodeFlags, SignFlags } from '../../node-options.ts';
import { answerOf, printAnswer } from '../../rest-calls.ts';
import { confirmed, signerOf, waitSeconds } from '../../signed-calls.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';

export interface CreateFlags extends SignFlags {
  name: string;
  description?: string;
  recipients: string[];
  owners?: string[];
}

export interface ChangeFlags extends SignFlags {
  add?: true;
  remove?: true;
  recipients?: string[];
  owners?: string[];
}

export interface SendFlags extends SignFlags {
  filename?: string;
  type: string;
  author?: string;
  comment?: string;
}

export interface ReadFlags extends NodeFlags {
  policy?: string;
  output?: string;
}

export function create(flags: CreateFlags): Promise<void> {
  const { name, description = '', recipients, sender, owners = [sender] } = flags;
  return send(flags, {
    type: createPolicy.type,
    policyName: name,
    description,
    recipients,
    owners,
  });
}

export function update(policyId: string, flags: ChangeFlags): Promise<void> {
  const { add, remove, recipients = [], owners = [] } = flags;
  if (add !== true && remove !== true) throw new CliError('Say --add or --remove', EXIT.usage);
  const opType = add === true ? 'add' : 'remove';
  return send(flags, { type: updatePolicy.type, policyId, opType, recipients, owners });
}

export const list = (flags: NodeFlags): Promise<void> =>
  printAnswer(flags, ({ call }) => call(privacy.list));

export const show = (policyId: string, flags: NodeFlags): Promise<void> =>
  printAnswer(flags, async ({ call }) => {
    const [policy, hashes] = await Promise.all([
      call(privacy.one, { params: { policyId } }),
      call(privacy.hashes, { params: { policyId } }),
    ]);
    return { ...policy, hashes };
  });

export function sendData(policyId: string, file: string, flags: SendFlags): Promise<void> {
  const { type, author = '', comment = '' } = flags;
  const data = read(file);
  const body = {
    ...signerOf(flags),
    policyId,
    type,
    info: {
      filename: flags.filename ?? (file === '-' ? 'stdin' : basename(file)),
      size: String(data.length),
      timestamp: Date.now(),
      author,
      comment,
    },
    data: data.toString('base64'),
    hash: base58.encode(createHash('sha256').update(data).digest()),
  };
  return printAnswer(flags, (node) =>
    settled(flags, node, () => node.call(privacy.sendData, { body })),
  );
}

export async function getData(hash: string, flags: ReadFlags): Promise<void> {
  const { policy: policyId, output } = flags;
  const text = await answerOf(flags, ({ call }) =>
    policyId === undefined
      ? call(privacy.getData, { params: { hash } })
      : call(privacy.getDataOf, { params: { policyId, hash } }),
  );
  const data = Buffer.from(text, 'base64');
  if (output === undefined) {
    await new Promise<void>((resolve) => void process.stdout.write(data, () => resolve()));
    return;
  }
  try {
    // The data are confidential, so only the owner of the file may read it.
    writeFileSync(output, data, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw new CliError(`${output} cannot be written: ${(cause as Error).message}`);
  }
}

export const getInfo = (hash: string, flags: ReadFlags): Promise<void> =>
  printAnswer(flags, ({ call }): Promise<unknown> => {
    const { policy: policyId } = flags;
    return policyId === undefined
      ? call(privacy.getInfo, { params: { hash } })
      : call(privacy.getInfoOf, { params: { policyId, hash } });
  });

export const sync = (policy: string | undefined, flags: NodeFlags): Promise<void> =>
  printAnswer(flags, ({ call }) =>
    call(privacy.forceSync, { body: policy === undefined ? {} : { policy } }),
  );

const send = (flags: SignFlags, fields: JsonObject): Promise<void> =>
  printAnswer(flags, (node) => {
    const body = { version: 1, ...signerOf(flags), ...fields };
    return settled(flags, node, () => node.call(transactions.signAndBroadcast, { body }));
  });

/** The transaction as soon as it has reached what `--wait` requires. */
async function settled(
  { wait }: SignFlags,
  node: Client,
  ask: () => Promise<JsonObject>,
): Promise<JsonObject> {
  const seconds = wait === undefined ? undefined : waitSeconds(wait);
  const sent = await ask();
  return seconds === undefined ? sent : confirmed(node, sent, seconds);
}

function read(file: string): Buffer {
  try {
    if (file !== '-') requireLength(file, statSync(file).size);
    const data = readFileSync(file === '-' ? 0 : file);
    requireLength(file, data.length);
    return data;
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw new CliError(`${file} cannot be read: ${(cause as Error).message}`);
  }
}

/** The node would tell the length of the whole request, and Node.js nothing but that of a text. */
function requireLength(file: string, bytes: number): void {
  if (bytes <= PRIVATE_DATA_BYTES_MAX) return;
  throw new CliError(`${file} has ${bytes} bytes, an item at most ${PRIVATE_DATA_BYTES_MAX}`);
}
