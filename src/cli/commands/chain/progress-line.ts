/** How far long work on a chain is. */
import { say } from '../../terminal/output.ts';

const MESSAGE_MS = 10_000;

/** A line that is redrawn on a terminal, or printed every ten seconds elsewhere. */
export function progressLine(target: number | undefined) {
  const terminal = process.stderr.isTTY === true;
  let last = performance.now();
  return {
    show(height: number, rest: string): void {
      const now = performance.now();
      if (now - last < (terminal ? 100 : MESSAGE_MS)) return;
      last = now;
      const goal = target === undefined ? '' : `/${target}`;
      const line = `height ${height}${goal} ${rest}`;
      if (terminal) process.stderr.write(`\r\x1b[K${line}`);
      else say(line);
    },
    end(): void {
      if (terminal) process.stderr.write('\r\x1b[K');
    },
  };
}
