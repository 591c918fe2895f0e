/**
 * Requests at a fixed rate, however long the answers take, so that a slow server cannot slow down
 * the measurement.
 */
import { isOk } from '../../src/cli/load/answers.ts';
import type { Due, Place } from '../../src/cli/load/connection.ts';
import { drive } from '../../src/cli/load/traffic.ts';

const CONNECTIONS = 16;

/** The requests go to the ports in turn. Gives the time of each answer by `performance.now()`. */
export async function postPaced(
  ports: readonly number[],
  requests: readonly Uint8Array[],
  perSecond: number,
): Promise<readonly number[]> {
  const start = performance.now();
  const answers: number[] = [];
  let wrong: string | undefined;
  const places = ports.map((port): Place => ({ host: '127.0.0.1', port }));
  const sent = ports.map((_, i) => i);

  function exchangeOf(place: Place) {
    const turn = places.indexOf(place);
    return {
      next() {
        const n = sent[turn]!;
        const bytes = requests[n];
        if (bytes === undefined || wrong !== undefined) return undefined;
        sent[turn] = n + ports.length;
        return { n, bytes, at: start + (n * 1000) / perSecond };
      },
      answered({ n }: Paced, answer: Buffer, now: number) {
        answers[n] = now;
        if (!isOk(answer)) wrong ??= answer.toString();
      },
      lost(_request: Paced | undefined, why: string) {
        wrong ??= why;
      },
    };
  }
  const connections = CONNECTIONS * ports.length;
  await drive<Paced>(places, exchangeOf, { connections, failuresMax: 1 });
  if (wrong !== undefined) throw new Error(`a request was not answered with 200: ${wrong}`);
  return answers;
}

interface Paced extends Due {
  readonly n: number;
}
