/** `platform-node tx send <type>`: a node signs and broadcasts one transaction. */
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
  const { printAnswer } = await import('../../rest-calls.ts');
  const { confirmed, passwordOf, waitSeconds } = await import('../../signed-calls.ts');
  const { transactions } = await import('../../../rest/routes/transactions.ts');
  const { finality } = await import('../../../rest/routes/finality.ts');
  const { wait, waitFinal } = flags;
  const isFinal = waitFinal !== undefined;
  const mined = wait === undefined ? undefined : waitSeconds(wait);
  const seconds = isFinal ? waitSeconds(waitFinal, '--wait-final') : mined;
  const password = passwordOf(flags);
  const body = { ...requestOf(type, words, flags), ...password };
  await printAnswer(flags, async (node) => {
    if (isFinal && !(await node.call(finality.state)).isActive) {
      throw new CliError('Nobody votes on the blocks of this network, so none becomes final');
    }
    const sent = await node.call(transactions.signAndBroadcast, { body });
    return seconds === undefined ? sent : confirmed(node, sent, seconds, isFinal);
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
