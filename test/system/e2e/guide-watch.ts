/** A client beside the operators of docs/guide/network.md, and what the page promises it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { libs } from '@waves/waves-transactions';
import type { Test } from 'tap';
import { type Absence, type Header, missedTurns, unexplained } from '../missed-turns.ts';
import type { Operator } from './guide-operator.ts';
import { type Command, eventually } from './process.ts';

/** Of the page. */
const ROUND_MS = 2000;
/** Of all rounds other nodes may miss so many, where the machine has other work to do. */
const MISSED_SHARE = 0.1;
const PAGE = 100;
const CLIENT = join(import.meta.dirname, 'transfer-client.ts');

/** Clients of alpha, and what the guide promises them: nothing acknowledged is lost, no turn of others is. */
export class GuideWatch {
  private readonly t: Test;
  private readonly alpha: Operator;
  private readonly absences: Absence[] = [];
  private client: Command | undefined;
  private from = 0;

  constructor(t: Test, alpha: Operator) {
    this.t = t;
    this.alpha = alpha;
  }

  async start(): Promise<void> {
    const { alpha } = this;
    const seed = 'a client of alpha';
    const to = libs.crypto.address(seed, 'T');
    await alpha.type([
      `platform-node tx send transfer --sender $OWN --recipient ${to} --amount 1000000000000 --password-env PLATFORM_NODE_OWNER_PASSWORD --wait 60`,
    ]);
    const { height } = (await alpha.ask('/blocks/height')) as { height: number };
    this.from = height;
    this.client = alpha.program(CLIENT, 'http://127.0.0.1:6862', 'T', seed, to);
    await this.client.line('stdout', /./);
  }

  /** While it works, the operator's node may miss its turns. */
  async absent(one: Operator, work: () => Promise<void>): Promise<void> {
    const from = Date.now() - ROUND_MS;
    const before = this.acknowledged().length;
    const owners: string[] = [];
    // A newcomer has none yet.
    if (existsSync(join(one.folder, 'keystore.dat'))) owners.push(await one.owner());
    await work();
    owners.push(await one.owner());
    if (this.client !== undefined) {
      this.t.ok(this.acknowledged().length > before, `clients go on beside ${one.name}`);
    }
    this.absences.push({ owners, from, to: Date.now() + ROUND_MS });
  }

  private acknowledged(): readonly string[] {
    return this.client?.stdout().split('\n').slice(0, -1) ?? [];
  }

  async end(all: readonly Operator[]): Promise<void> {
    const { t, alpha, client } = this;
    if (client === undefined) return;
    client.kill('SIGTERM');
    t.equal((await client.exit).code, 0, client.stderr());
    const ids = this.acknowledged();
    const { height: last } = (await alpha.ask('/blocks/height')) as { height: number };
    const { height } = await eventually('two more blocks', async () => {
      const now = (await alpha.ask('/blocks/height')) as { height: number };
      return now.height > last + 1 ? now : undefined;
    });
    const blocks = await headers(alpha, this.from, height);
    const missed = missedTurns(blocks, ROUND_MS);
    const others = unexplained(missed, this.absences);
    const counts = `${missed.length} turns without a block, ${others.length} of others`;
    t.ok(others.length <= blocks.length * MISSED_SHARE, `${blocks.length} blocks, ${counts}`);
    t.ok(ids.length > 100, `${ids.length} transfers`);
    for (const one of all) {
      await eventually(`block ${height} of ${one.name}`, async () => {
        const own = (await one.ask('/blocks/height')) as { height: number };
        return own.height >= height || undefined;
      });
      const mined = await transactionIds(one, this.from, height);
      t.strictSame(
        ids.filter((id) => !mined.has(id)),
        [],
        `${one.name} has all that was acknowledged`,
      );
    }
  }
}

export async function headers(of: Operator, from: number, to: number): Promise<Header[]> {
  const all: Header[] = [];
  for (let at = from; at <= to; at += PAGE) {
    const path = `/blocks/headers/seq/${at}/${Math.min(to, at + PAGE - 1)}`;
    all.push(...((await of.ask(path)) as Header[]));
  }
  return all;
}

async function transactionIds(of: Operator, from: number, to: number): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let at = from; at <= to; at += PAGE) {
    const path = `/blocks/seq/${at}/${Math.min(to, at + PAGE - 1)}`;
    const blocks = (await of.ask(path)) as { transactions: { id: string }[] }[];
    for (const { transactions } of blocks) for (const { id } of transactions) ids.add(id);
  }
  return ids;
}
