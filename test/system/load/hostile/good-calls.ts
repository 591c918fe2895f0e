/** Calls of a good contract at a steady pace, and how long each waits for its result. */

import { nthCall } from '../../../../bench/transfers/contract-calls.ts';
import { base58 } from '../../../../src/base/base58.ts';
import type { JsonObject } from '../../../../src/base/json/json.ts';
import type { Sender } from '../../../../src/cli/load/transfers.ts';
import { txToJson } from '../../../../src/tx/json/encode.ts';
import { scheme } from '../../e2e/process-network.ts';
import type { Rest } from '../../e2e/rest.ts';

export interface GoodCalls {
  readonly sent: number;
  /** Calls that a node did not take, with its answers. */
  readonly refused: readonly string[];
  /** Of those that are in blocks, in milliseconds. */
  readonly waits: readonly number[];
  /** Calls whose block has lost against another one. */
  readonly lost: number;
  /** Calls, once for each block that has a later call and not them. */
  readonly passedOver: number;
  /** Sends no more of them. Resolves when the last one is sent. */
  end(): Promise<void>;
  /** Looks for results until there are none to wait for, or the time is over. */
  settled(ms: number): Promise<void>;
}

interface Block {
  readonly signature: string;
  readonly reference: string;
  readonly transactions: readonly { readonly type: number; readonly tx?: JsonObject }[];
}

const LOOK_MS = 100;
/** Calls arrive at nodes in another order than they were sent. */
const LATER_MS = 1000;

/** The nodes take turns; blocks are read from the first one. */
export function startGoodCalls(
  rests: readonly Rest[],
  contractId: string,
  senders: readonly Sender[],
  fromHeight: number,
  perSecond: number,
): GoodCalls {
  /** When each was sent that no block has. */
  const waiting = new Map<string, number>();
  /** The blocks that were read, with the calls in them and when those were sent. */
  const blocks: { readonly id: string; readonly sent: ReadonlyMap<string, number> }[] = [];
  const waits = new Map<string, number>();
  const refused: string[] = [];
  const contract = base58.decode(contractId);
  let sent = 0;
  let lost = 0;
  let passedOver = 0;
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
    while (fromHeight + blocks.length < tip) {
      const height = fromHeight + blocks.length + 1;
      const { status, body } = await first!.get(`/blocks/at/${height}`);
      if (status !== 200) return;
      const { signature, reference, transactions } = body as Block;
      const last = blocks.at(-1);
      if (last !== undefined && last.id !== reference) forget(blocks.pop()!.sent);
      else blocks.push({ id: signature, sent: found(transactions) });
    }
  }

  function found(transactions: Block['transactions']): ReadonlyMap<string, number> {
    const calls = new Map<string, number>();
    for (const { type, tx } of transactions) {
      const id = type === 105 ? String(tx?.['id']) : '';
      const since = waiting.get(id);
      if (since === undefined) continue;
      waits.set(id, performance.now() - since);
      waiting.delete(id);
      calls.set(id, since);
    }
    const newest = Math.max(...calls.values());
    for (const since of waiting.values()) if (since < newest - LATER_MS) passedOver++;
    return calls;
  }

  /** Another block has taken the place of theirs, so they wait on. */
  function forget(calls: ReadonlyMap<string, number>): void {
    lost += calls.size;
    for (const [id, since] of calls) {
      waits.delete(id);
      waiting.set(id, since);
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

  const calling = repeat(1000 / perSecond, () => isEnding, call);
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
    get lost() {
      return lost;
    },
    get passedOver() {
      return passedOver;
    },
    get waits() {
      return [...waits.values()];
    },
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
