/**
 * A network of toy nodes on one clock: who is connected, messages with delays, rounds in which one miner has
 * the turn, nodes that die and come back, disks that fail, liars.
 *
 * Invariant: everything follows from the seed.
 */
import { latin1 } from '../../../src/base/bytes.ts';
import type { Verifier } from '../../../src/base/ports/verifier.ts';
import type { Peer } from '../../../src/finality/finality.ts';
import { encodeNote, FIRST_NOTE } from '../../../src/finality/note-file.ts';
import type { Rules } from '../../../src/finality/rules.ts';
import type { VoterSet } from '../../../src/finality/votes/voter-set.ts';
import { decodeVotes } from '../../../src/finality/votes/votes-message.ts';
import { family } from '../../family.ts';
import { Dice } from '../../system/sim/random.ts';
import { type NodeClock, nodeClock, World } from '../../system/sim/world.ts';
import { scheme } from '../vectors.ts';
import { Checks } from './checks.ts';
import { Disk } from './disk.ts';
import { Liar } from './liar.ts';
import { isAncestor, ROUND_MS, ToyNode } from './node.ts';
import { type Account, accounts, genesisOf, makeBlock, type ToyBlock } from './toy-chain.ts';

export interface NetworkSettings {
  readonly seed: number;
  /** The first votes at the root; the state of a block may entitle any of them. */
  readonly sets: readonly VoterSet[];
  readonly liars: readonly Account[];
  readonly maxRollback: number;
  readonly rules: Rules;
  readonly isWild: boolean;
}

type Message =
  | { readonly kind: 'votes' | 'proof'; readonly bytes: Uint8Array }
  | { readonly kind: 'block'; readonly block: ToyBlock };

/** One member of the network over all its lives. */
export class Member {
  readonly account: Account;
  readonly clock: NodeClock[] = [];
  disk: Disk;
  node: ToyNode | undefined;
  liar: Liar | undefined;
  /** Which part of the network it is in. */
  part = 0;
  /** The last block that it showed as final. */
  shown: ToyBlock;
  hasKeptNote = true;

  constructor(account: Account, disk: Disk, genesis: ToyBlock) {
    this.account = account;
    this.disk = disk;
    this.shown = genesis;
  }
}

const DELAY_MS_MAX = 150;

export class Network {
  readonly world = new World(1_000_000);
  readonly checks: Checks;
  readonly members: readonly Member[];
  readonly genesis: ToyBlock;
  readonly dice: Dice;
  readonly settings: NetworkSettings;
  readonly log: string[] = [];
  /** Share of messages between connected nodes that take rounds and not milliseconds. */
  slowness = 0;
  /** Chance that a block begins to entitle another set. */
  changes = 0;
  areLiarsActive = true;
  private readonly verifier = memoVerifier();
  private readonly lines = new Map<string, number>();
  private readonly made = new Dice(0);
  /** Parts of which a node made a block above its final block + R, since they parted. */
  private ahead = new Set<number>();
  private round = 0;

  constructor(settings: NetworkSettings) {
    this.settings = settings;
    this.dice = new Dice(settings.seed);
    this.made = this.dice.fork();
    this.checks = new Checks(settings.rules);
    this.genesis = genesisOf(settings.sets[0]!);
    const names = new Set(settings.sets.flatMap(({ names }) => [...names]));
    this.members = accounts
      .filter(({ publicKey }) => names.has(latin1(publicKey)))
      .map((account) => {
        const owner = { genesis: this.genesis.id, voter: account.publicKey };
        const note = encodeNote(FIRST_NOTE, owner, scheme);
        const content = { note, proof: undefined, head: this.genesis };
        const disk = new Disk(content, nodeClock(this.world, 0), this.dice.fork());
        return new Member(account, disk, this.genesis);
      });
    for (const member of this.members) this.start(member);
    this.turn();
  }

  isLiar({ account }: Member): boolean {
    return this.settings.liars.includes(account);
  }

  say(member: Member, what: string): void {
    if (this.log.length < 20_000) {
      this.log.push(
        `${(this.world.now / ROUND_MS - 1000).toFixed(2)} ${member.account.name} ${what}`,
      );
    }
  }

  start(member: Member): void {
    const clock = nodeClock(this.world, 0);
    const dice = this.dice.fork();
    member.disk = new Disk(member.disk.content, clock, dice);
    const { genesis, settings } = this;
    const { maxRollback, rules, isWild } = settings;
    const node = new ToyNode(
      { account: member.account, genesis, maxRollback, rules, isWild },
      {
        clock,
        dice,
        disk: member.disk,
        verifier: this.verifier,
        checks: this.checks,
        peers: () => (this.isLiar(member) ? [] : this.peersOf(member)),
        onBlock: (block) => member.liar?.saw(block),
        onHead: (block) => {
          this.say(member, `follows ${nameOf(block)}`);
          if (!this.isLiar(member)) this.broadcast(member, { kind: 'block', block });
        },
        onLog: (event, fields) => this.say(member, `${event} ${JSON.stringify(fields)}`),
      },
    );
    member.node = node;
    if (this.isLiar(member)) member.liar = new Liar(member, this, clock, dice);
    node.start();
    for (const other of this.members) if (other !== member) this.join(member, other);
  }

  kill(member: Member): void {
    member.node?.kill();
    member.node = undefined;
    this.say(member, 'dies');
  }

  isConnected(a: Member, b: Member): boolean {
    if (a === b || a.node === undefined || b.node === undefined) return false;
    // Liars are on all sides.
    return a.part === b.part || this.isLiar(a) || this.isLiar(b);
  }

  peersOf(member: Member): Peer[] {
    return this.members
      .filter((other) => this.isConnected(member, other))
      .map((other) => this.peer(member, other));
  }

  private peer(from: Member, to: Member): Peer {
    const isMember = this.areLiarsActive || !this.isLiar(to);
    return {
      voter: isMember ? to.account.publicKey : undefined,
      send: (bytes) => this.send(from, to, { kind: 'votes', bytes }),
      prove: (bytes) => this.send(from, to, { kind: 'proof', bytes }),
    };
  }

  private join(a: Member, b: Member): void {
    if (!this.isConnected(a, b)) return;
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      if (from.node === undefined || this.isLiar(from)) continue;
      this.send(from, to, { kind: 'block', block: from.node.head });
      from.node.engine.joined(this.peer(from, to));
    }
  }

  /** `parts[i]` is that of the i-th member. */
  divide(parts: readonly number[]): void {
    const before = this.members.map(({ part }) => part);
    this.ahead = new Set();
    for (const [i, member] of this.members.entries()) member.part = parts[i]!;
    for (const [i, a] of this.members.entries()) {
      for (const [k, b] of this.members.entries()) {
        const isNew = i < k && before[i] !== before[k] && a.part === b.part;
        if (isNew) this.join(a, b);
      }
    }
  }

  broadcast(from: Member, message: Message): void {
    for (const to of this.members) if (this.isConnected(from, to)) this.send(from, to, message);
  }

  /** In order between two nodes; lost where they are not connected when it would arrive. */
  send(from: Member, to: Member, message: Message): void {
    if (message.kind === 'votes') this.watch(from, message.bytes);
    const line = `${from.account.name} ${to.account.name}`;
    const slow = this.dice.happens(this.slowness) ? 3 * ROUND_MS : 0;
    const at = this.world.now + this.dice.between(1, DELAY_MS_MAX) + this.dice.below(slow + 1);
    const arrival = Math.max(at, this.lines.get(line) ?? 0);
    this.lines.set(line, arrival);
    const { node } = to;
    this.world.after(arrival - this.world.now, () => {
      if (node === undefined || !node.isAlive || !this.isConnected(from, to)) return;
      if (message.kind === 'block') node.take(message.block);
      else void this.deliver(from, to, node, message);
    });
  }

  private async deliver(
    from: Member,
    to: Member,
    { engine }: ToyNode,
    { kind, bytes }: Exclude<Message, { readonly kind: 'block' }>,
  ): Promise<void> {
    const peer = this.peer(to, from);
    const offence = await (kind === 'votes'
      ? engine.receive(bytes, peer)
      : engine.receiveProof(bytes, peer));
    if (offence !== undefined && !this.isLiar(from)) {
      this.checks.say('evidence', `an honest node is blamed: ${offence.message}`);
    }
  }

  private watch(from: Member, bytes: Uint8Array): void {
    const { node } = from;
    if (this.isLiar(from) || node === undefined) return;
    for (const vote of decodeVotes(bytes, scheme)) {
      if (!node.isOwn(vote)) continue;
      this.checks.vote(vote);
      this.checks.own(vote, node.noteHeight());
    }
  }

  /** One miner has the turn in each round; where it may not or is not there, there is no block. */
  private turn(): void {
    const member = this.members[this.round++ % this.members.length]!;
    this.world.after(ROUND_MS, () => this.turn());
    const { node } = member;
    if (node === undefined) return;
    if (member.liar !== undefined) {
      if (this.areLiarsActive) member.liar.mine();
      return;
    }
    if (!node.engine.mayMakeBlock()) {
      this.say(member, `waits at ${nameOf(node.head)}`);
      return;
    }
    const block = this.blockOn(node.head, member, node);
    const { maxRollback } = this.settings;
    const { final } = node.engine.tracker;
    if (block.height > final.height + maxRollback && !this.settings.isWild) {
      this.ahead.add(member.part);
      if (this.ahead.size > 1) this.checks.say('two sides ahead', `height ${block.height}`);
    }
    node.take(block);
  }

  blockOn(parent: ToyBlock, { account }: Member, node: ToyNode): ToyBlock {
    const { sets } = this.settings;
    const entitled = this.made.happens(this.changes) ? this.made.pick(sets) : parent.entitled;
    const isCarrying = !this.settings.isWild || this.made.happens(0.6);
    const carried = isCarrying ? node.engine.tracker.toCarry(node.tracked(parent)) : undefined;
    const content = { timestamp: this.world.now, entitled, carried };
    const block = makeBlock(parent, account, content, this.made);
    this.log.push(
      `${(this.world.now / ROUND_MS - 1000).toFixed(2)} ${account.name} makes ${nameOf(block)} on ${nameOf(parent)}${carried === undefined ? '' : ` carrying ${carried.target.height}`}${entitled === parent.entitled ? '' : ` entitling ${entitled.names.size}`}`,
    );
    return block;
  }

  async run(rounds: number): Promise<void> {
    const end = this.world.now + rounds * ROUND_MS;
    while (this.world.now < end) {
      await this.world.runUntil(Math.min(end, this.world.now + 100));
      for (const member of this.members) if (!this.isLiar(member)) this.look(member);
    }
  }

  private look(member: Member): void {
    const { node, shown } = member;
    if (node === undefined) return;
    this.checks.final(latin1(node.engine.tracker.final.id));
    const final = node.toys.get(latin1(node.engine.final().id));
    const isKept = final !== undefined && isAncestor(shown, final) && isAncestor(shown, node.head);
    if (!isKept) this.checks.say('reverted', `${member.account.name}: block ${shown.height}`);
    if (final !== undefined) member.shown = final;
    if ((node.engine.tracker.conflict ?? node.conflict) !== undefined) {
      this.checks.say('two final', `${member.account.name} has two proofs`);
    }
  }
}

export const nameOf = ({ height, id }: ToyBlock): string =>
  `${height}${Buffer.from(id).toString('hex').slice(0, 3)}`;

function memoVerifier(): Verifier {
  const verdicts = new Map<string, boolean>();
  const verify = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
    const name = latin1(key) + latin1(signature) + latin1(message);
    const known = verdicts.get(name);
    if (known !== undefined) return known;
    const verdict = family.verify(key, message, signature);
    verdicts.set(name, verdict);
    return verdict;
  };
  return {
    verifyOne: async (...check) => verify(...check),
    verify: async (items) =>
      items.map(({ publicKey, message, signature }) => verify(publicKey, message, signature)),
    close: async () => {},
  };
}
