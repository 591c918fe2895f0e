/**
 * Long work that Ctrl-C ends in an orderly way: completed parts stay, and the next run continues.
 */

export interface Interruption {
  readonly isAsked: () => boolean;
  /** Restores the default effect of signals. */
  release(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The first signal requests a stop; the second one ends the process at once, as by default. */
export function onInterruption(): Interruption {
  let isAsked = false;
  const listen = (): void => {
    isAsked = true;
    release();
  };
  const release = (): void => {
    for (const signal of SIGNALS) process.removeListener(signal, listen);
  };
  for (const signal of SIGNALS) process.on(signal, listen);
  return { isAsked: () => isAsked, release };
}

/** The items up to the request to stop. */
export async function* untilAsked<T>(
  items: AsyncIterable<T>,
  { isAsked }: Pick<Interruption, 'isAsked'>,
): AsyncGenerator<T> {
  for await (const item of items) {
    if (isAsked()) return;
    yield item;
  }
}
