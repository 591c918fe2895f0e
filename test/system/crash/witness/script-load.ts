/**
 * Over REST, as fast as blocks come: an account sets a script that takes everything, transactions of it
 * that nobody signed follow, with later times than that which removes the script. So what is in the
 * journal when the node dies is good, or good no longer.
 */

import { broadcastBody } from '../../../../bench/transfers/transfers.ts';
import type { Sender } from '../../../../src/cli/load/transfers.ts';
import type { ChainScheme } from '../../../../src/codec/codec.ts';
import type { Tx } from '../../../../src/tx/transaction.ts';
import {
  accountScripts,
  anyProofs,
  garbage,
  ScriptedSender,
} from '../../../generators/scripted.ts';
import { Dice } from '../../sim/random.ts';

export interface ScriptLoadOptions {
  /** Of a node that runs. */
  readonly port: () => number;
  /** Both have funds; the scripts are those of the first. */
  readonly accounts: readonly [Sender, Sender];
  readonly scheme: ChainScheme;
  readonly acknowledged: (id: Uint8Array) => void;
}

export interface ScriptLoad {
  /** How often the account was seen with its script, and then without it. */
  readonly rounds: number;
  /** Acknowledged transactions without a signature of their sender. */
  readonly unsigned: number;
  /** Takes no new work, waits for what is on its way. */
  stop(): Promise<void>;
}

const UNSIGNED = 12;
const LATER_MS_MAX = 3_000;
const LOOK_MS = 50;
/** Of a node that may be dead. */
const WAIT_MS_MAX = 5_000;

export function startScriptLoad(options: ScriptLoadOptions): ScriptLoad {
  const { scheme, acknowledged } = options;
  const [account, other] = options.accounts;
  const sender = new ScriptedSender(scheme);
  const dice = new Dice(Date.now());
  const address = scheme.addressToText(account.address);
  let isOver = false;
  let unsigned = 0;
  let rounds = 0;

  async function send(tx: Tx): Promise<boolean> {
    const answer = await ask('/transactions/broadcast', broadcastBody(tx, scheme));
    if (answer === undefined) return false;
    acknowledged(tx.id);
    return true;
  }

  /** The answer; undefined where the node refuses or dies. */
  async function ask(path: string, body?: string): Promise<unknown> {
    try {
      const response = await fetch(`http://127.0.0.1:${options.port()}${path}`, {
        signal: AbortSignal.timeout(WAIT_MS_MAX),
        ...(body === undefined
          ? {}
          : { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
      });
      const answer: unknown = await response.json();
      return response.ok ? answer : undefined;
    } catch {
      return undefined;
    }
  }

  /** Waits until the node says so; false where it does not in time. */
  async function isScripted(wanted: boolean): Promise<boolean> {
    const end = Date.now() + WAIT_MS_MAX;
    while (!isOver && Date.now() < end) {
      const info = (await ask(`/addresses/scriptInfo/${address}`)) as { script?: unknown };
      if (info !== undefined && (typeof info.script === 'string') === wanted) return true;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return false;
  }

  async function round(): Promise<void> {
    await send(sender.setScript(account, accountScripts.anything, Date.now()));
    const came = await isScripted(true);
    const removal = sender.setScript(account, undefined, Date.now());
    const txs = Array.from({ length: UNSIGNED }, (_, i) => {
      const proofs = i % 2 === 0 ? garbage(dice) : anyProofs(dice, account, other);
      const at = Date.now() + 1 + dice.below(LATER_MS_MAX);
      return sender.transfer(account, other, at, proofs);
    });
    const taken = await Promise.all(txs.map(send));
    unsigned += taken.filter((isTaken) => isTaken).length;
    await send(removal);
    const went = await isScripted(false);
    if (came && went) rounds++;
  }

  async function run(): Promise<void> {
    while (!isOver) await round();
  }

  const running = run();
  return {
    get rounds() {
      return rounds;
    },
    get unsigned() {
      return unsigned;
    },
    stop() {
      isOver = true;
      return running;
    },
  };
}
