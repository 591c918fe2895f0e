/**
 * Stories about one account whose script lets everything pass for a while, and about transactions of it
 * that nobody has signed: they wait in pools and journals, or are in blocks that are taken back, when the
 * script is gone; and they come to nodes that are a block ahead of those who send them, or behind.
 */
import { scripts } from '../../../src/ledger/tables.ts';
import type { Account } from '../../chain/chain-harness.ts';
import { accountScripts } from '../../generators/scripted.ts';
import type { Cluster } from './cluster.ts';
import type { SimNode } from './node.ts';
import type { Dice } from './random.ts';
import { players, type ScriptLoad } from './script-load.ts';
import { LENGTH_MS } from './settings.ts';

/** Grows by as much with each episode: a short run has several, and a long one time for more. */
const PAUSE_MS_MAX = 15_000;
/** A script is in the chain of everybody after so long, unless the network is divided. */
const MINED_MS_MAX = 4 * LENGTH_MS;
const LOOK_MS = 50;
const DOWN_MS_MAX = 20_000;
const CUT_MS = { from: 2 * LENGTH_MS, to: 6 * LENGTH_MS };
const SERVED_MAX = 3;

export interface EpisodePorts {
  readonly cluster: Cluster;
  readonly load: ScriptLoad;
  readonly dice: Dice;
  /** None begins after this, and no cut lasts longer. */
  readonly end: number;
}

export class ScriptEpisodes {
  private readonly ports: EpisodePorts;
  private told = 0;
  private over = false;

  constructor(ports: EpisodePorts) {
    this.ports = ports;
  }

  /** True once the last one has been told, which ends some time after `end`. */
  get isOver(): boolean {
    return this.over;
  }

  async run(): Promise<void> {
    await this.tell();
    this.over = true;
  }

  private async tell(): Promise<void> {
    const { cluster, dice, end } = this.ports;
    for (;;) {
      const pause = dice.below((1 + this.told) * PAUSE_MS_MAX);
      if (cluster.world.now + pause > end) return;
      await this.wait(pause);
      const player = dice.pick(players);
      const kind = dice.pick(['crash', 'crash', 'split', 'split', 'race'] as const);
      cluster.trace('world', `episode: ${kind} around the script of ${player.text}`);
      await this[kind](player);
      this.told++;
    }
  }

  /** What waits when the script goes is in the journals of those who die after that. */
  private async crash(player: Account): Promise<void> {
    const { cluster, dice } = this.ports;
    if (!(await this.everywhere(player, true))) return;
    this.burst(player, this.able());
    await this.everywhere(player, false);
    await this.wait(dice.below(LENGTH_MS));
    const share = dice.pick([1, 1, 0.5, 0.2]);
    for (const i of cluster.nodes.keys()) {
      if (dice.happens(share)) cluster.kill(i, 1 + dice.below(DOWN_MS_MAX), dice.happens(0.3));
    }
  }

  /** The script comes or goes on one side of a cut; the blocks of one side are taken back. */
  private async split(player: Account): Promise<void> {
    const { cluster, dice, end } = this.ports;
    const begins = dice.happens(0.3);
    if (!(await this.everywhere(player, !begins))) return;
    const all = dice.shuffled([...cluster.nodes.keys()]);
    const left = all.slice(0, dice.between(1, all.length - 1));
    const right = all.filter((i) => !left.includes(i));
    const ms = Math.min(dice.between(CUT_MS.from, CUT_MS.to), end - cluster.world.now);
    if (ms <= 0) return;
    cluster.cut(left, right, ms);
    const of = (side: readonly number[]): SimNode[] =>
      this.able().filter((node) => side.includes(cluster.nodes.indexOf(node)));
    this.change(player, begins, of(left));
    if (!begins) this.burst(player, of(right));
    // The others hear of them before they have the block that decides about them.
    const changed = (): SimNode[] => of(left).filter((node) => hasScript(node, player) === begins);
    await this.until(() => changed().length > 0, ms);
    if (begins) this.burst(player, changed());
    else if (dice.happens(0.5)) this.burst(player, of(right));
    await this.wait(dice.below(ms));
    if (dice.happens(0.3)) cluster.kill(dice.pick(all), 1 + dice.below(DOWN_MS_MAX));
    await this.until(() => this.able().every((node) => hasScript(node, player) === begins), ms);
  }

  /** Some have the block with the script, or with its end, and the others get it in this moment. */
  private async race(player: Account): Promise<void> {
    const { dice } = this.ports;
    const begins = dice.happens(0.5);
    if (!(await this.everywhere(player, !begins))) return;
    this.change(player, begins, this.able());
    const having = (has: boolean): SimNode[] =>
      this.able().filter((node) => hasScript(node, player) === has);
    await this.until(() => having(begins).length > 0, MINED_MS_MAX);
    this.burst(player, having(true));
    await this.wait(LENGTH_MS);
  }

  /** Several nodes get some of them, whose times are after the next blocks. */
  private burst(player: Account, to: readonly SimNode[]): void {
    const { cluster, load, dice } = this.ports;
    const { now } = cluster.world;
    for (const node of dice.shuffled(to).slice(0, SERVED_MAX)) {
      for (let i = dice.between(4, 8); i > 0; i--) {
        const at = now + 1 + dice.below(3 * LENGTH_MS);
        cluster.guard(cluster.submit(node, load.unsignedOf(player, at)));
      }
    }
  }

  private change(player: Account, begins: boolean, through: readonly SimNode[]): void {
    const { cluster, load, dice } = this.ports;
    if (through.length === 0) return;
    const script = begins ? accountScripts.anything : undefined;
    const tx = load.sender.setScript(player, script, cluster.world.now);
    cluster.guard(cluster.submit(dice.pick(through), tx));
  }

  /** Resolves to false where it does not become so in time. */
  private async everywhere(player: Account, begins: boolean): Promise<boolean> {
    const isSo = (): boolean => this.able().every((node) => hasScript(node, player) === begins);
    if (isSo()) return true;
    this.change(player, begins, this.able());
    return this.until(isSo, MINED_MS_MAX);
  }

  private able(): SimNode[] {
    return this.ports.cluster.running().filter(({ member }) => member.part !== 'watcher');
  }

  private async until(holds: () => boolean, ms: number): Promise<boolean> {
    const { world } = this.ports.cluster;
    for (const end = world.now + ms; world.now < end; ) {
      if (holds()) return true;
      await this.wait(LOOK_MS);
    }
    return holds();
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.ports.cluster.world.after(ms, resolve);
    });
  }
}

const hasScript = (node: SimNode, { address }: Account): boolean =>
  node.blockchain.view.get(scripts, address) !== undefined;
