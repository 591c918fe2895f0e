/** Calls of a good contract at a steady pace, and how long each waits for its result. */

import { nthCall } from '../../../bench/transfers/contract-calls.ts';
import { base58 } from '../../../src/base/base58.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { Sender } from '../../../src/cli/load/transfers.ts';
import { txToJson } from '../../../src/tx/json/encode.ts';
import { scheme } from '../../e2e/process-network.ts';
import type { Rest } from '../../e2e/rest.ts';

export interface GoodCalls {
  readonly sent: number;
  /** Calls that a node did not take, with its answers. */
  readonly refused: readonly string[];
  /** Of those that are in blocks, in milliseconds. */
  readonly waits: readonly number[];
  /** Sends no more of them. Resolves when the last one is sent. */
  end(): Promise<void>;
  /** Looks for results until there are none to wait for, or the time is over. */
  settled(ms: number): Promise<void>;
}

const PER_SECOND = 20;
const LOOK_MS = 100;

/** The nodes take turns; blocks are read from the first one. */
export function startGoodCalls(
  rests: readonly Rest[],
  contractId: string,
  senders: readonly Sender[],
  fromHeight: number,
): GoodCalls {
  const waiting = new Map<string, number>();
  const waits: number[] = [];
  const refused: string[] = [];
  const contract = base58.decode(contractId);
  let height = fromHeight;
  let sent = 0;
  let isEnding = false;

  async function call(): Promise<void> {
    const rest = rests[sent % rests.length]!;
    const tx = nthCall(sent++, contract, [], senders, Date.now(), scheme);
    const id = base58.encode(tx.id);
    waiting.set(id, performance.now());
    const { status, body } = await rest.post('/transactions/broadcast', txToJson(tx, scheme));
    if (status === 200) return;
    waiting.delete(id);
    refused.push(`${status} ${JSON.stringify(body)}`);
  }

  async function look(): Promise<void> {
    const [first] = rests;
    const tip = await first!.height();
    for (; height < tip; height++) {
      const { body } = await first!.get(`/blocks/at/${height + 1}`);
      for (const { type, tx } of (body as JsonObject)['transactions'] as JsonObject[]) {
        const id = type === 105 ? String((tx as JsonObject)['id']) : '';
        const since = waiting.get(id);
        if (since === undefined) continue;
        waits.push(performance.now() - since);
        waiting.delete(id);
      }
    }
  }

  async function repeat(
    everyMs: number,
    isOver: () => boolean,
    act: () => Promise<void>,
  ): Promise<void> {
    const began = performance.now();
    const acts: Promise<void>[] = [];
    for (let i = 0; !isOver(); i++) {
      acts.push(act());
      const pause = began + (i + 1) * everyMs - performance.now();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, pause)));
    }
    await Promise.all(acts);
  }

  const calling = repeat(1000 / PER_SECOND, () => isEnding, call);
  let lookUntil = Number.POSITIVE_INFINITY;
  const looking = (async () => {
    while ((!isEnding || waiting.size > 0) && performance.now() < lookUntil) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  })();
  return {
    get sent() {
      return sent;
    },
    refused,
    waits,
    async end() {
      isEnding = true;
      await calling;
    },
    async settled(ms) {
      lookUntil = performance.now() + ms;
      await looking;
    },
  };
}
