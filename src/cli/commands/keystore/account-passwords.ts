/**
 * Passwords of accounts, one after the other: from a variable, from the console (typed twice), or
 * from the lines of a pipe (also twice).
 */
import { createInterface } from 'node:readline';
import { CliError, EXIT } from '../../terminal/exit.ts';
import { warn } from '../../terminal/output.ts';
import { askHidden, hasConsole } from '../../terminal/prompt.ts';

export interface PasswordFlags {
  /** The variable that holds the password of every account. */
  passwordEnv?: string;
  /** Accounts get no password. */
  emptyPasswords?: true;
}

export interface PasswordSource {
  /** Asks for a new password twice, with the same prompt; an empty text means none. */
  choose(prompt: string): Promise<string>;
  /** An existing password. */
  ask(prompt: string): Promise<string>;
  close(): void;
}

const NO_CONSOLE = 'use --password-env <variable> or --empty-passwords';

/** `remedy`: what else the command takes, where there is no console. */
export function passwordSource(flags: PasswordFlags, remedy = NO_CONSOLE): PasswordSource {
  const fixed = flags.emptyPasswords === true ? '' : fromVariable(flags.passwordEnv);
  if (fixed !== undefined) {
    return { choose: async () => fixed, ask: async () => fixed, close() {} };
  }
  const pipe = hasConsole() ? undefined : pipedLines();
  const line = async (prompt: string): Promise<string> => {
    const typed = pipe === undefined ? await askHidden(prompt) : await pipe.next();
    if (typed !== undefined) return typed;
    throw new CliError(`No password and no console to ask for one: ${remedy}`, EXIT.noConsole);
  };
  return {
    async choose(prompt) {
      for (;;) {
        const first = await line(prompt);
        if (first === (await line(prompt))) return first;
        if (pipe !== undefined) throw new CliError('The two passwords differ');
        warn('The two passwords differ, once more');
      }
    },
    ask: line,
    close: () => pipe?.close(),
  };
}

export function fromVariable(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const value = process.env[name];
  if (value === undefined) throw new CliError(`The variable ${name} is not set`, EXIT.usage);
  return value;
}

function pipedLines(): { next(): Promise<string | undefined>; close(): void } {
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
  const iterator = lines[Symbol.asyncIterator]();
  return {
    next: async () => {
      const { value, done } = await iterator.next();
      return done === true ? undefined : value;
    },
    close: () => lines.close(),
  };
}
