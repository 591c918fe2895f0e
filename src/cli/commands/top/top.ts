/** `platform-node top`: what a running node does, on one screen that is drawn again and again. */
import { type Command, InvalidArgumentError } from 'commander';
import { type NodeFlags, nodeOptions } from '../../node-options.ts';
import { EXIT } from '../../terminal/exit.ts';

interface Flags extends NodeFlags {
  readonly metrics?: string;
  readonly interval: number;
  readonly count?: number;
}

const INTERVAL_SECONDS_MAX = 3600;
const METRICS_PORT = 9464;
const MS = 1000;

export function register(command: Command): void {
  nodeOptions(command)
    .description(
      'Show height, final block, rounds, miners, pool, peers and rates of a running node; in a pipe a line of ' +
        'JSON each time. Ctrl-C ends it.',
    )
    .option(
      '--metrics <url>',
      `its metrics (default: http://<host of the node>:${METRICS_PORT}/metrics)`,
    )
    .option('--interval <seconds>', 'seconds between two readings', seconds, 2)
    .option(
      '--count <number>',
      'end after so many readings; exit code 1 where the last one failed',
      count,
    )
    .action(run);
}

function seconds(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= INTERVAL_SECONDS_MAX) return value;
  throw new InvalidArgumentError(`a number up to ${INTERVAL_SECONDS_MAX}, such as 2 or 0.5`);
}

function count(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('a number from 1');
}

async function run(flags: Flags): Promise<void> {
  const { setTimeout: pause } = await import('node:timers/promises');
  const { isForPerson, printJson } = await import('../../terminal/output.ts');
  const { NodeWatch } = await import('./node-watch.ts');
  const { Screen } = await import('./screen.ts');
  const { linesOf } = await import('./lines-of.ts');
  const watch = new NodeWatch(flags, flags.metrics ?? metricsBeside(flags.url));
  const screen = isForPerson() ? new Screen(process.stdout) : undefined;
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const { signal } = ending;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end);
  screen?.start();
  try {
    for (let left = flags.count ?? Number.POSITIVE_INFINITY; left > 0; left--) {
      const reading = await watch.read(signal);
      if (signal.aborted) break;
      if (left === 1 && 'error' in reading) process.exitCode = EXIT.failure;
      if (screen === undefined) printJson(reading);
      else screen.draw((width) => linesOf(reading, width));
      if (left > 1) await pause(flags.interval * MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    screen?.stop();
    await watch.close();
  }
}

/** Throws nothing: what is no URL is refused where the node is asked. */
function metricsBeside(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  return `http://${new URL(url).hostname}:${METRICS_PORT}/metrics`;
}
