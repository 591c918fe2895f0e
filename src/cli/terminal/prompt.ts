/** Asks people on the console. Text typed into a password prompt is not shown. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError, EXIT } from './exit.ts';

export const hasConsole = (): boolean => process.stdin.isTTY === true;

/** The typed line, or undefined without a console or at its end. */
export async function askHidden(prompt: string): Promise<string | undefined> {
  if (!hasConsole()) return undefined;
  process.stderr.write(prompt);
  // Readline echoes into this stream, which prints nothing.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  return new Promise((resolve, reject) => {
    lines.on('SIGINT', () => {
      reject(new CliError('', EXIT.interrupted));
      lines.close();
    });
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => {
      process.stderr.write('\n');
      resolve(undefined);
    });
  });
}
