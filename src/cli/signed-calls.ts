/** What the commands have in common that let a node sign a transaction and wait for its block. */
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../base/json/json.ts';
import { type Client, RefusedError } from '../rest-framework/client.ts';
import { fromVariable } from './commands/keystore/account-passwords.ts';
import type { SignFlags } from './node-options.ts';
import { positive } from './terminal/documents.ts';
import { CliError } from './terminal/exit.ts';
import { printJson } from './terminal/output.ts';

const POLL_MS = 250;
const WAIT_SECONDS_MAX = 86_400;

/** The member of a request for the password of an account that has one. */
export function passwordOf({ passwordEnv }: Pick<SignFlags, 'passwordEnv'>): { password?: string } {
  const password = fromVariable(passwordEnv);
  return password === undefined ? {} : { password };
}

/** The members of a request that say who signs, and for which fee. */
export function signerOf(flags: SignFlags) {
  const { sender, fee } = flags;
  return {
    sender,
    ...passwordOf(flags),
    ...(fee === undefined ? {} : { fee: positive(fee, '--fee', Number.MAX_SAFE_INTEGER) }),
  };
}

/** The seconds of `--wait`, or of an option like it. */
export const waitSeconds = (text: string, option = '--wait'): number =>
  positive(text, option, WAIT_SECONDS_MAX);

/**
 * The transaction with its height, once it is in a block, or in a final one. When that takes too long, it
 * is printed as it was sent, since it may still get into a block, and a CliError reports the timeout.
 */
export async function confirmed(
  { call }: Client,
  sent: JsonObject,
  seconds: number,
  isFinal = false,
): Promise<JsonObject> {
  const { finality } = await import('../rest/routes/finality.ts');
  const { transactions } = await import('../rest/routes/transactions.ts');
  const id = String(sent['id']);
  const deadline = Date.now() + seconds * 1000;
  let where: string;
  for (;;) {
    try {
      // Before the block of the transaction, which may leave the chain as long as it is not final.
      const final = isFinal ? (await call(finality.state)).finalHeight : undefined;
      const found = await call(transactions.info, { params: { id } });
      if (final === undefined || Number(found['height']) <= final) return found;
      where = 'in no final block';
    } catch (cause) {
      if (!(cause instanceof RefusedError)) throw cause;
      where = 'in no block';
    }
    if (Date.now() > deadline) {
      printJson(sent);
      throw new CliError(`The transaction ${id} is ${where} after ${seconds} s`);
    }
    await pause(POLL_MS);
  }
}
