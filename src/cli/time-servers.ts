/** The time of day from the configured time servers: for a node, and for a command that ends soon. */
import { TimeSource } from '../adapters/ntp.ts';
import { systemClock } from '../adapters/system.ts';
import type { Disposal } from '../base/disposal.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Log } from '../base/ports/log.ts';
import type { Config } from '../node/config/settings.ts';
import { CliError, EXIT } from './terminal/exit.ts';

type Ntp = Config['ntp'];

const REMEDY =
  'let answers of UDP port 123 through, name other servers, or set ntp.servers = [] where something ' +
  'else keeps the clock of this machine right';

/**
 * Undefined without servers: the operator keeps the machine's clock right by other means. `onFatal`
 * gets the one line for the operator when the fatal timeout has passed.
 */
function timeSource(
  ntp: Ntp,
  log: Log,
  onFatal: (cause: CliError) => void,
): TimeSource | undefined {
  const { servers, requestTimeout, expirationTimeout, fatalTimeout, maxStep, maxDeviation } = ntp;
  if (servers.length === 0) return undefined;
  const options = {
    servers,
    requestTimeoutMs: requestTimeout.ms,
    expirationMs: expirationTimeout.ms,
    fatalMs: fatalTimeout?.ms ?? Number.POSITIVE_INFINITY,
    maxStepMs: maxStep.ms,
    maxDeviationMs: maxDeviation.ms,
  };
  const source = new TimeSource(options, log, (why) => {
    const text = `clock (ntp.fatal-timeout = ${fatalTimeout?.text}, ntp.servers): ${why}; ${REMEDY}`;
    onFatal(new CliError(text, EXIT.noTime));
  });
  source.start();
  return source;
}

/** The clock of a node. Without an answer the clock of the machine serves until the fatal timeout. */
export async function openClock(
  { ntp }: Config,
  { log, started, requestStop }: ClockOpening,
): Promise<Clock> {
  const time = timeSource(ntp, log, requestStop);
  if (time !== undefined) {
    started.add('clock', () => time.stop());
    await time.ready(FIRST_TIME_MS_MAX);
  }
  return systemClock(time);
}

export interface ClockOpening {
  readonly log: Log;
  readonly started: Disposal;
  readonly requestStop: (cause: Error) => void;
}

/** The start waits so long at most for the first answers of the time servers. */
const FIRST_TIME_MS_MAX = 30_000;

/** What one round of questions says. */
export interface AskedTime {
  /** Milliseconds since 1970; of the machine's clock where the round is not usable. */
  readonly now: number;
  /** Of the time servers from the machine's clock. */
  readonly offsetMs: number;
  /** Why the round is not usable. */
  readonly trouble: string | undefined;
}

/** Silent servers time out at the same moment; the round is judged this much later at most. */
const JUDGED_MS = 500;

/** Of commands that only report. */
export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Asks all servers once. `limits`: those of the setting, or none where a command only reports. */
export async function askOnce(
  servers: readonly string[],
  timeoutMs: number,
  limits: { readonly maxStepMs: number; readonly maxDeviationMs: number },
): Promise<AskedTime> {
  const once = { requestTimeoutMs: timeoutMs, expirationMs: timeoutMs };
  const options = { servers, ...once, fatalMs: Number.POSITIVE_INFINITY, ...limits };
  const source = new TimeSource(options, silent);
  source.start();
  const isUsable = await source.ready(timeoutMs + JUDGED_MS);
  const now = source.now();
  const offsetMs = Math.round(now - Date.now());
  source.stop();
  if (isUsable) return { now, offsetMs, trouble: undefined };
  return { now, offsetMs, trouble: source.trouble() ?? 'no time server answers' };
}
