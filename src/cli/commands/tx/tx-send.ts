/** `platform-node tx send <type>`: a node signs and broadcasts one transaction. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { JsonObject } from '../../../base/json/json.ts';
import { didYouMean } from '../../../node/config/spelling.ts';
import { type NodeFlags, nodeOptions } from '../../node-options.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';
import {
  fieldOption,
  flagOf,
  loose,
  type SendType,
  sendTypes,
  valueFrom,
  versionFor,
} from './tx-fields.ts';

interface Flags extends NodeFlags {
  passwordEnv?: string;
  wait?: string;
  waitFinal?: string;
  version?: string;
}

const POLL_MS = 250;
export const WAIT_SECONDS_MAX = 86_400;

/** Registers a sub-command for each type. */
export function registerTypes(send: Command): void {
  for (const type of sendTypes()) {
    const command = send
      .command(`${type.key} [fields...]`)
      .alias(String(type.type))
      .summary(type.doc)
      .description(`${type.doc} Fields are given as flags or as name=value.`)
      .optionsGroup('Fields:');
    for (const name of type.fields.keys()) command.addOption(fieldOption(type, name));
    command
      .option('--version <n>', 'version of the type; default: the lowest that has these fields')
      .optionsGroup('Options:');
    nodeOptions(command)
      .option('--password-env <variable>', 'variable that holds the password of the account')
      .addOption(
        new Option('--wait <seconds>', 'seconds to wait for the transaction to be in a block'),
      )
      .addOption(
        new Option(
          '--wait-final <seconds>',
          'seconds to wait for the transaction to be in a final block, which is never taken back',
        ).conflicts('wait'),
      )
      .action((fields: string[], flags: Flags & JsonObject) => sendOne(type, fields, flags));
  }
}

async function sendOne(
  type: SendType,
  words: readonly string[],
  flags: Flags & JsonObject,
): Promise<void> {
  const { fromVariable } = await import('../keystore/account-passwords.ts');
  const { positive } = await import('../../terminal/documents.ts');
  const { printAnswer } = await import('../../rest-calls.ts');
  const { transactions } = await import('../../../rest/routes/transactions.ts');
  const { finality } = await import('../../../rest/routes/finality.ts');
  const seconds = (text: string | undefined, name: string): number | undefined =>
    text === undefined ? undefined : positive(text, name, WAIT_SECONDS_MAX);
  const [mined, final] = [seconds(flags.wait, '--wait'), seconds(flags.waitFinal, '--wait-final')];
  const password = fromVariable(flags.passwordEnv);
  const body = {
    ...requestOf(type, words, flags),
    ...(password === undefined ? {} : { password }),
  };
  await printAnswer(flags, async ({ call }) => {
    const finalHeight = async (): Promise<number | undefined> => {
      const { isActive, finalHeight } = await call(finality.state);
      return isActive ? finalHeight : undefined;
    };
    if (final !== undefined && (await finalHeight()) === undefined) {
      throw new CliError('Nobody votes on the blocks of this network, so none becomes final');
    }
    const sent = await call(transactions.signAndBroadcast, { body });
    const id = String(sent['id']);
    const look = () => call(transactions.info, { params: { id } });
    if (final !== undefined) return finallyConfirmed(sent, id, final, finalHeight, look);
    return mined === undefined ? sent : confirmed(sent, id, mined, look);
  });
}

/** The same as `confirmed`, for a block that is final. What is final is looked at first. */
export async function finallyConfirmed<T extends JsonObject>(
  sent: unknown,
  id: string,
  seconds: number,
  finalHeight: () => Promise<number | undefined>,
  look: () => Promise<T>,
): Promise<T> {
  return confirmed(sent, id, seconds, async () => {
    const final = (await finalHeight()) ?? 0;
    const found = await look();
    return Number(found['height']) <= final ? found : undefined;
  });
}

/** The body of the sign request. Throws CliError for wrong usage. */
export function requestOf(type: SendType, words: readonly string[], flags: JsonObject): JsonObject {
  const fields: JsonObject = {};
  for (const name of type.fields.keys()) {
    if (flags[name] !== undefined) fields[name] = flags[name];
  }
  for (const word of words) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name === undefined || text === undefined) {
      throw new CliError(`'${word}' must be written name=value`, EXIT.usage);
    }
    fields[name] = wordValue(type, name, text);
  }
  const missing = type.required.filter((name) => fields[name] === undefined);
  if (missing.length > 0) {
    throw new CliError(`${type.key} needs ${missing.map(flagOf).join(', ')}`, EXIT.usage);
  }
  const version = flags['version'] ?? fields['version'] ?? versionFor(type, Object.keys(fields));
  if (version === undefined) {
    throw new CliError(`No version of ${type.key} has all of these fields`, EXIT.usage);
  }
  return { type: type.type, ...fields, version: Number(version) };
}

function hint(type: SendType, name: string): string {
  const guess = didYouMean(name, type.fields.keys());
  return guess === undefined
    ? `it has ${[...type.fields.keys()].join(', ')}`
    : `did you mean '${guess}'?`;
}

function wordValue(type: SendType, name: string, text: string): unknown {
  const schema = type.fields.get(name);
  if (schema === undefined) {
    // A node would leave it out without a word, and the transaction cannot be taken back.
    if (name === 'version') return loose(text);
    throw new CliError(`${type.key} has no field '${name}': ${hint(type, name)}`, EXIT.usage);
  }
  try {
    return valueFrom(schema, text);
  } catch (cause) {
    throw new CliError(`${name}=${text}: ${(cause as Error).message}`, EXIT.usage);
  }
}

/**
 * The result of `look` once the transaction is in a block, and there is one. When that takes too long, the
 * transaction is printed as it was sent, since it may still get into a block, and a CliError
 * reports the timeout.
 */
export async function confirmed<T>(
  sent: unknown,
  id: string,
  seconds: number,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const { RefusedError } = await import('../../../rest-framework/client.ts');
  const deadline = Date.now() + seconds * 1000;
  let where = 'in no block';
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined) return found;
      where = 'in no final block';
    } catch (cause) {
      if (!(cause instanceof RefusedError)) throw cause;
      where = 'in no block';
    }
    if (Date.now() > deadline) {
      const { printJson } = await import('../../terminal/output.ts');
      printJson(sent);
      throw new CliError(`The transaction ${id} is ${where} after ${seconds} s`);
    }
    await pause(POLL_MS);
  }
}
