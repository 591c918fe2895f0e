/** Long work that Ctrl-C ends in order: what is done stays done, and the next run goes on from it. */

export interface Interruption {
  readonly isAsked: () => boolean;
  /** Back to what a signal does by itself. */
  release(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The first signal asks; the second one ends the process at once, as it would have without us. */
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

/** The items up to the moment of a request to stop. */
export async function* untilAsked<T>(
  items: AsyncIterable<T>,
  { isAsked }: Pick<Interruption, 'isAsked'>,
): AsyncGenerator<T> {
  for await (const item of items) {
    if (isAsked()) return;
    yield item;
  }
}
