/**
 * One simulation: nodes that make blocks, users that send transactions, and faults, all from one
 * seed. Ends with a time without faults, within which all nodes must agree.
 */
import { transactionsAt } from '../../../src/chain/store/stored-blocks.ts';
import { isParticipant } from '../../../src/ledger/participants.ts';
import { asSent, membersOf } from '../../../src/tx/members.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { setScript } from '../../../src/tx/types/013-set-script.ts';
import { Broken, disagreement, runsContracts } from './checkers.ts';
import { Cluster } from './cluster.ts';
import { startLiar } from './liar.ts';
import type { SimNode } from './node.ts';
import { Dice } from './random.ts';
import { RoleLoad, TERM_MS_MAX } from './role-load.ts';
import { ScriptEpisodes } from './script-episodes.ts';
import { isUnsigned } from './script-load.ts';
import { BAN_BLOCKS, GENESIS_TIME, LENGTH_MS, type Member, memberOf } from './settings.ts';
import { GOOD, type Quality } from './weather.ts';
import { bannedAt, withholdNext } from './withholding.ts';
import { createWorkload, type Workload } from './workload.ts';

export interface SimOptions {
  readonly seed: number;
  /** Virtual time with faults and load. */
  readonly seconds: number;
  /** 4 to 7; left out, the seed says how many. */
  readonly nodes?: number | undefined;
  readonly trace?: ((line: string) => void) | undefined;
  /** Besides those of every simulated network. */
  readonly features?: readonly number[] | undefined;
  /** Absent: 100. */
  readonly rollbackMax?: number | undefined;
}

export interface ContractGroups {
  /** Those that a node has accepted. */
  readonly sent: number;
  /** Those in the chain at the end. */
  readonly inChain: number;
  /** Times that one stood in a block that is not in the chain. */
  readonly undone: number;
  /** Members in the chain: 103, 104 and 107. */
  readonly creations: number;
  readonly calls: number;
  readonly updates: number;
}

export interface SimResult {
  readonly kind: string;
  readonly height: number;
  readonly stateHash: string;
  /** Digest of everything that happened. */
  readonly trace: string;
  readonly accepted: number;
  readonly reorganisations: number;
  /** Of the highest final block; 0 without the feature. */
  readonly final: number;
  readonly depthMax: number;
  /** Results of contracts, counted by every node. */
  readonly executed: number;
  readonly groups: number;
  /** Atomic transactions with contracts. */
  readonly contractGroups: ContractGroups;
  readonly crashes: number;
  /** Scripts of accounts set and removed, by transactions in the chain. */
  readonly scripts: number;
  /** Transactions in the chain that only a script could accept. */
  readonly unsigned: number;
  /** Registrations of a member that went on alone since it did not know of its removal. */
  readonly unaware: number;
  /** Different blocks that the cold validator has judged. */
  readonly judged: number;
  /** Seconds of the quiet time after which all agreed. */
  readonly agreedAfter: number;
  readonly steps: number;
}

/**
 * To agree once there are no faults any more: what is under way runs into its time-outs (a request
 * of sync 40 s, a cut line 30 s), a place that failed is left alone for 60 s, and one of the others is
 * dialled every 5 s; then two rounds. A member that was shut out needs a block first.
 */
const AGREE_MS_MAX = 240_000;
const FAULT_EVERY_MS = 40_000;
const PARTITION_MS_MAX = 150_000;
const DOWN_MS_MAX = 60_000;
const WRONG_CLOCK_MS_MAX = 100_000;
const LOAD_EVERY_MS = 1_500;
const ROLES_EVERY_MS = 20_000;
/** Changes at one time, some of which meet in one block. */
const ROLES_MAX = 6;
const WITHHOLD_EVERY_MS = 60_000;
/** The last ban, and what the nodes that were away need to make their blocks again. */
const UNBANNED_MS_MAX = 2 * BAN_BLOCKS * LENGTH_MS;
/** Stake needs more than a minute for one block now and then. */
const GROW_MS_MAX = 300_000;
const GROW_BLOCKS = 2;
const MINUTE_MS = 60_000;
/**
 * A member that was removed while it was cut off does not know it. Without a quorum it makes blocks
 * alone, and nothing but its registration ends that. It gets it long before it has more blocks than
 * it may take back: stake needs ten seconds for one.
 */
const UNAWARE_MS_MAX = 300_000;
const LOOK_EVERY_MS = 30_000;
/** One that has begun kills nodes yet, and waits until scripts are in the chain everywhere. */
const EPISODE_MS_MAX = 300_000;

/** What the last member is. */
const LAST = ['miner', 'latecomer', 'watcher', 'stranger'] as const;

export async function simulate(options: SimOptions): Promise<SimResult> {
  return new Simulation(options).run();
}

class Simulation {
  private readonly options: SimOptions;
  private readonly dice: Dice;
  private readonly last: (typeof LAST)[number];
  private readonly members: readonly Member[];
  private readonly cluster: Cluster;
  private readonly workload: Workload;
  private readonly episodes: ScriptEpisodes;
  private readonly hasLiar: boolean;
  /** What could end the chain; absent in some networks, whose miners stay. */
  private readonly roles: RoleLoad | undefined;
  private quiet = false;
  /** The node whose clock is far off; one at a time. */
  private wrongClock: SimNode | undefined;
  /** How long the last member has believed that it is registered while no other node says so. */
  private unawareMs = 0;
  private unaware = 0;

  constructor(options: SimOptions) {
    this.options = options;
    const dice = new Dice(options.seed);
    this.dice = dice;
    this.last = dice.pick(LAST);
    const count = options.nodes ?? dice.between(4, 7);
    this.members = Array.from({ length: count }, (_, i) => {
      const isPlain = i < count - 1 || this.last === 'miner' || this.last === 'latecomer';
      return memberOf(i, isPlain ? 'miner' : (this.last as Member['part']));
    });
    this.hasLiar = dice.happens(0.5);
    const consensus = dice.happens(0.3) ? 'pos' : 'poa';
    this.roles = dice.happens(0.5) ? new RoleLoad(dice.fork(), this.members, consensus) : undefined;
    this.cluster = new Cluster({
      seed: dice.u32(),
      consensus,
      members: this.members,
      // With roles that come and go no fixed number would always do.
      quorum: this.roles === undefined ? dice.pick([0, 0, 1, undefined]) : undefined,
      trace: options.trace,
      features: options.features,
      rollbackMax: options.rollbackMax,
    });
    this.workload = createWorkload(dice.u32());
    this.episodes = new ScriptEpisodes({
      cluster: this.cluster,
      load: this.workload.scripts,
      dice: dice.fork(),
      end: GENESIS_TIME + options.seconds * 1000,
    });
  }

  async run(): Promise<SimResult> {
    const { cluster, members, dice } = this;
    const ms = this.options.seconds * 1000;
    cluster.weather.quality = this.anyQuality();
    members.forEach((_, i) => {
      if (i < members.length - 1 || this.last === 'miner' || this.last === 'watcher') {
        cluster.start(i);
      } else cluster.world.after(dice.between(ms / 10, ms / 2), () => this.admitLast());
    });
    const forge = (): Tx => this.workload.scripts.forged(cluster.world.now);
    if (this.hasLiar) cluster.guard(startLiar(cluster.ground, cluster.options, dice.fork(), forge));
    this.every(LOAD_EVERY_MS, () => cluster.send(this.workload));
    this.every(FAULT_EVERY_MS, () => this.fault());
    this.every(WITHHOLD_EVERY_MS, () => withholdNext(cluster, dice));
    this.every(ROLES_EVERY_MS, () => this.changeRoles());
    this.endUnawareness();
    cluster.guard(this.episodes.run());
    await cluster.run(ms);
    this.calm();
    return this.finish();
  }

  private async finish(): Promise<SimResult> {
    const { cluster, members, dice } = this;
    if (!(await cluster.runUntil(() => this.episodes.isOver, EPISODE_MS_MAX))) {
      throw new Broken('a story about a script does not end');
    }
    const since = cluster.world.now;
    const agreed = await cluster.runUntil(() => this.problem() === undefined, AGREE_MS_MAX);
    if (!agreed) throw new Broken(`after a long quiet time: ${this.problem()}`);
    const agreedAfter = (cluster.world.now - since) / 1000;
    cluster.nothingLost();
    await this.goesOn();
    const first = cluster.running()[0]!;
    const { height } = first.blockchain.tip();
    const stateHash = Buffer.from(first.blockchain.stateHash(height)!).toString('hex');
    const {
      reorganisations,
      depthMax,
      executed,
      groups,
      acceptedCount: accepted,
    } = cluster.checkers;
    const { crashes, cold } = cluster;
    const txs = Array.from({ length: height }, (_, i) =>
      transactionsAt(first.blockchain.view, i + 1),
    ).flat();
    const scripts = txs.filter(({ def }) => def.type === setScript.type).length;
    const unsigned = txs.filter((tx) => isUnsigned(asSent(tx))).length;
    const { steps } = cluster.world;
    const trace = cluster.end();
    await cluster.checkers.undoIsIdentity(first, cluster.ground, 10 + dice.below(40));
    const kind = `${members.length} nodes, ${cluster.options.consensus}, last ${this.last}`;
    const final = cluster.checkers.finalHeight;
    const counts = {
      accepted,
      reorganisations,
      final,
      depthMax,
      executed,
      groups,
      contractGroups: this.contractGroups(txs),
      crashes,
    };
    const { unaware } = this;
    const about = { scripts, unsigned, unaware, judged: cold.count, agreedAfter, steps };
    return { kind, height, stateHash, trace, ...counts, ...about };
  }

  private contractGroups(chain: readonly Tx[]): ContractGroups {
    const groups = chain.filter(runsContracts);
    const types = groups.flatMap(membersOf).map((member) => asSent(member).type);
    const count = (type: number): number => types.filter((one) => one === type).length;
    return {
      sent: this.workload.groups.accepted.length,
      inChain: groups.length,
      undone: this.cluster.checkers.contractGroups.size - groups.length,
      creations: count(103),
      calls: count(104),
      updates: count(107),
    };
  }

  /** Nobody stays banned, and the height grows. A node may still die of a write that was to fail. */
  private async goesOn(): Promise<void> {
    const { cluster } = this;
    const banned = (): string[] => cluster.running().flatMap((node) => bannedAt(node, cluster));
    const isFree = await cluster.runUntil(() => banned().length === 0, UNBANNED_MS_MAX);
    if (!isFree) throw new Broken(`banned for good: ${banned()}`);
    const top = (): number => {
      const tips = cluster.running().map(({ blockchain }) => blockchain.tip().height);
      return tips.length === 0 ? 0 : Math.min(...tips);
    };
    const height = top() + GROW_BLOCKS;
    const grows = await cluster.runUntil(() => top() >= height, GROW_MS_MAX);
    if (!grows) throw new Broken(`the height does not reach ${height}`);
  }

  /** Why the network is not whole yet. */
  private problem(): string | undefined {
    const nodes = this.cluster.running();
    const out = this.members.find(
      ({ account }) => !nodes.every((node) => isParticipant(node.blockchain.view, account.address)),
    );
    if (out !== undefined) return `${out.name} is shut out`;
    if (nodes.length < this.members.length) return 'not every node came back';
    return disagreement(nodes);
  }

  /** Repeats with random pauses, until the quiet time. */
  private every(ms: number, action: () => void): void {
    const next = (): void => {
      if (this.quiet) return;
      action();
      this.cluster.world.after(1 + this.dice.below(2 * ms), next);
    };
    this.cluster.world.after(1 + this.dice.below(2 * ms), next);
  }

  private register(opType: 'add' | 'remove', nodes = this.cluster.running()): void {
    const { cluster, dice } = this;
    const able = nodes.filter(({ member }) => member.part !== 'watcher');
    if (able.length === 0) return;
    const member = this.members.at(-1)!;
    const tx = this.workload.register(cluster.world.now, member, opType);
    cluster.guard(cluster.submit(dice.pick(able), tx));
  }

  /** The other nodes that do not know the last member; itself it is cut off, whatever it believes. */
  private withoutLast(): SimNode[] {
    const last = this.members.at(-1)!;
    return this.cluster
      .running()
      .filter(({ member }) => member !== last)
      .filter(({ blockchain }) => !isParticipant(blockchain.view, last.account.address));
  }

  private endUnawareness(): void {
    if (this.quiet) return;
    const { cluster, members } = this;
    const last = cluster.running().find(({ member }) => member === members.at(-1));
    const without = this.withoutLast();
    const isUnaware =
      last !== undefined &&
      isParticipant(last.blockchain.view, last.member.account.address) &&
      without.length > 0 &&
      without.length === cluster.running().length - 1;
    this.unawareMs = isUnaware ? this.unawareMs + LOOK_EVERY_MS : 0;
    if (this.unawareMs > UNAWARE_MS_MAX) {
      this.unaware++;
      this.register('add', without);
    }
    cluster.world.after(LOOK_EVERY_MS, () => this.endUnawareness());
  }

  /** Ends early, so that all terms are over when it gets quiet. */
  private changeRoles(): void {
    const { cluster, dice, roles } = this;
    const able = cluster.running().filter(({ member }) => member.part !== 'watcher');
    if (roles === undefined || able.length === 0) return;
    if (this.secondsLeft() * 1000 < TERM_MS_MAX) return;
    for (let i = dice.between(1, ROLES_MAX); i > 0; i--) {
      const tx = roles.next(cluster.world.now);
      cluster.guard(cluster.submit(dice.pick(able), tx));
    }
  }

  private admitLast(): void {
    if (this.last === 'stranger') this.register('add');
    this.cluster.start(this.members.length - 1);
  }

  private fault(): void {
    const { dice, cluster, members } = this;
    const i = dice.below(members.length);
    const node = cluster.nodes[i];
    const kind = dice.below(9);
    if (kind === 0) cluster.kill(i, 1 + dice.below(DOWN_MS_MAX), dice.happens(0.5));
    else if (kind === 1) node?.crashAt(dice.below(200));
    else if (kind === 2 || kind === 3) this.partition();
    else if (kind === 4) cluster.weather.quality = this.anyQuality();
    else if (kind === 5) this.setClock(node, dice.between(-80, 80));
    else if (kind === 6) this.disturbClock(node);
    else if (kind === 7) this.stopEngine(node);
    else if (this.secondsLeft() > 120) this.register(dice.pick(['remove', 'remove', 'add']));
  }

  /** The container engine of a node goes away and comes back. */
  private stopEngine(node: SimNode | undefined): void {
    if (node?.containers === undefined) return;
    const { cluster, dice } = this;
    cluster.trace(node.name, 'has no container engine');
    node.containers.setProblem('the engine is away');
    cluster.world.after(1 + dice.below(DOWN_MS_MAX), () => node.containers?.setProblem(undefined));
  }

  private secondsLeft(): number {
    return this.options.seconds - (this.cluster.world.now - GENESIS_TIME) / 1000;
  }

  private partition(): void {
    const { dice, cluster, members } = this;
    const all = dice.shuffled(members.map((_, i) => i));
    const left = all.slice(0, dice.between(1, all.length - 1));
    const right = all.filter((i) => !left.includes(i));
    const oneWay = dice.happens(0.2);
    const flaps = dice.happens(0.2) ? 5 : 1;
    const ms = Math.min(dice.below(PARTITION_MS_MAX), this.secondsLeft() * 1000) / flaps;
    for (let flap = 0; flap < flaps; flap++) {
      const begin = (): void => {
        cluster.trace('world', `${left} | ${right} for ${ms} ms${oneWay ? ' one way' : ''}`);
        cluster.cut(left, right, ms / (flaps === 1 ? 1 : 2), oneWay);
      };
      if (flap === 0) begin();
      else cluster.world.after(flap * ms, begin);
    }
  }

  private setClock(node: SimNode | undefined, aheadMs: number, gain = 0): void {
    if (node === undefined || this.wrongClock === node) return;
    this.cluster.trace(node.name, `has a clock ${aheadMs} ms ahead, gains ${gain}`);
    node.clock.set(aheadMs, gain);
  }

  /** Minutes off, or too fast, or too slow, for a while. */
  private disturbClock(node: SimNode | undefined): void {
    const { dice, cluster } = this;
    if (node === undefined || this.wrongClock !== undefined) return;
    const [ahead, gain] = dice.pick([
      [-10 * MINUTE_MS, 0],
      [10 * MINUTE_MS, 0],
      [-MINUTE_MS, 0],
      [dice.between(-5_000, 5_000), 0],
      [0, 0.05],
      [0, -0.05],
    ] as const);
    this.setClock(node, ahead, gain);
    this.wrongClock = node;
    cluster.world.after(1 + dice.below(WRONG_CLOCK_MS_MAX), () => this.correctClock());
  }

  private correctClock(): void {
    const node = this.wrongClock;
    this.wrongClock = undefined;
    this.setClock(node, 0);
  }

  private calm(): void {
    const { cluster } = this;
    this.quiet = true;
    cluster.weather.quality = GOOD;
    this.correctClock();
    for (const node of cluster.alive()) node.clock.set(0);
    cluster.trace('world', 'quiet from here');
    // What waits in a pool may shut the member out once more, and more than once.
    for (const seconds of [30, 60, 90, 120, 150]) {
      cluster.world.after(seconds * 1000, () => {
        const without = this.withoutLast();
        if (without.length > 0) this.register('add', without);
      });
    }
  }

  private anyQuality(): Quality {
    const { dice } = this;
    return {
      delayMs: dice.pick([1, 20, 100, 400]),
      jitterMs: dice.pick([1, 50, 500, 1600]),
      breaks: dice.pick([0, 0, 0.001, 0.01]),
      stalls: dice.pick([0, 0, 0.001]),
    };
  }
}
