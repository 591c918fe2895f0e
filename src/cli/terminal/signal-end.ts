/** What a command still does when a signal ends it. */
import { TERMINAL_SIGNALS } from './stop-requests.ts';

export interface SignalEnd {
  /** The work is done otherwise, or not needed any more. */
  forget(): void;
}

/** `work` runs before the signal has its default effect. */
export function onSignalEnd(work: () => void): SignalEnd {
  const forget = (): void => {
    for (const signal of TERMINAL_SIGNALS) process.removeListener(signal, end);
  };
  const end = (signal: NodeJS.Signals): void => {
    forget();
    try {
      work();
    } finally {
      process.kill(process.pid, signal);
    }
  };
  for (const signal of TERMINAL_SIGNALS) process.on(signal, end);
  return { forget };
}
