/** Posts transfers at a steady rate and reports which ones were acknowledged with 200. */
import { Agent, request } from 'node:http';
import { broadcastBody, nthTransfer } from '../../../../bench/transfers/transfers.ts';
import type { Sender } from '../../../../src/cli/load/transfers.ts';
import type { ChainScheme } from '../../../../src/codec/codec.ts';

export interface SteadyLoad {
  /** Takes no new work, waits for what is on its way. */
  stop(): Promise<void>;
}

export interface SteadyLoadOptions {
  /** Where the next one goes. */
  readonly port: () => number;
  readonly perSecond: number;
  readonly senders: readonly Sender[];
  readonly scheme: ChainScheme;
  /** Number of the next transfer of all; every one is sent once. */
  readonly next: () => number;
  readonly acknowledged: (id: Uint8Array) => void;
  /** An answer other than 200. Lost connections are nobody's fault here. */
  readonly refused: (answer: string) => void;
}

const TICK_MS = 20;
/** A node that does not answer gets no more than this. */
const IN_FLIGHT_MAX = 256;

export function startSteadyLoad(options: SteadyLoadOptions): SteadyLoad {
  const { port, senders, scheme } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT_MAX });
  const pending = new Set<Promise<void>>();
  let last = performance.now();
  let owed = 0;

  function send(): void {
    const tx = nthTransfer(options.next(), senders, Date.now(), scheme);
    const answer = post(port(), agent, broadcastBody(tx, scheme)).then(({ status, text }) => {
      if (status === 200) options.acknowledged(tx.id);
      else if (status !== undefined) options.refused(text);
    });
    pending.add(answer);
    void answer.then(() => pending.delete(answer));
  }

  const timer = setInterval(() => {
    const now = performance.now();
    owed += ((now - last) * options.perSecond) / 1000;
    last = now;
    for (; owed >= 1; owed--) if (pending.size < IN_FLIGHT_MAX) send();
  }, TICK_MS);

  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(pending);
      agent.destroy();
    },
  };
}

interface Answer {
  /** Undefined where the connection broke. */
  readonly status: number | undefined;
  readonly text: string;
}

function post(port: number, agent: Agent, body: string): Promise<Answer> {
  return new Promise((resolve) => {
    const lost = (error: Error): void => resolve({ status: undefined, text: error.message });
    const headers = { 'content-type': 'application/json' };
    const path = '/transactions/broadcast';
    const call = request({ port, agent, path, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
      response.on('error', lost);
    });
    call.on('error', lost);
    call.end(body);
  });
}
