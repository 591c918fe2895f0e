/** One seed: a network, some rounds in which anything happens, then rounds in which everything works. */
import { latin1 } from '../../../src/base/bytes.ts';
import { verifyOffline } from '../../../src/finality/proofs/offline-proof.ts';
import { type Rules, rules } from '../../../src/finality/rules.ts';
import { areContradictory } from '../../../src/finality/votes/evidence.ts';
import { decidingOn, type VoterSet } from '../../../src/finality/votes/voter-set.ts';
import { Dice } from '../../system/sim/random.ts';
import { stepsTo } from '../proof-steps.ts';
import { scheme } from '../vectors.ts';
import type { Kind, Problem } from './checks.ts';
import { type Member, Network } from './network.ts';
import { chainOf } from './node.ts';
import { accounts, setOf, trackedRoot } from './toy-chain.ts';

const four = setOf(1, 2, 3, 4);
const others = setOf(1, 5, 6, 7);
const seven = setOf(1, 2, 3, 4, 5, 6, 7);

interface Electorates {
  readonly name: string;
  readonly sets: readonly VoterSet[];
  /** Fewer than a third of each set. */
  readonly liars: readonly number[];
}

const KINDS: readonly Electorates[] = [
  { name: 'four', sets: [four], liars: [] },
  { name: 'four, one lies', sets: [four], liars: [2] },
  { name: 'seven', sets: [seven], liars: [] },
  { name: 'seven, two lie', sets: [seven], liars: [2, 5] },
  { name: 'four to others', sets: [four, others], liars: [] },
  { name: 'four to others, the common one lies', sets: [four, others], liars: [1] },
  { name: 'four to others, one of each lies', sets: [four, others], liars: [2, 5] },
  { name: 'four to seven', sets: [four, seven], liars: [] },
  { name: 'four to seven, one lies', sets: [four, seven], liars: [3] },
  { name: 'in a row, one lies', sets: [four, others, seven], liars: [1] },
];

export interface SeedOptions {
  readonly changed?: Partial<Rules>;
  /** Rounds in which anything happens. */
  readonly rounds?: number;
  readonly isWild?: boolean;
  readonly kind?: number;
  readonly kinds?: readonly Kind[];
}

export interface SeedResult {
  readonly name: string;
  readonly problems: readonly Problem[];
  readonly finalHeight: number;
  readonly height: number;
  readonly evidence: number;
  readonly log: readonly string[];
}

export async function runSeed(seed: number, options: SeedOptions = {}): Promise<SeedResult> {
  const dice = new Dice(seed);
  const kind = KINDS[options.kind ?? dice.below(KINDS.length)]!;
  const isWild = options.isWild ?? dice.happens(0.4);
  const maxRollback = dice.between(2, 4);
  const network = new Network({
    seed: dice.u32(),
    sets: kind.sets,
    liars: kind.liars.map((n) => accounts[n - 1]!),
    maxRollback,
    rules: { ...rules, ...options.changed },
    isWild,
  });
  network.changes = kind.sets.length > 1 ? (isWild ? 0.3 : 0.15) : 0;
  const rounds = options.rounds ?? 30;
  for (let done = 0; done < rounds && !isOver(network, options.kinds); ) {
    const next = Math.min(rounds - done, dice.between(1, 4));
    happen(network, dice);
    await network.run(next);
    done += next;
  }
  if (!isWild) await settle(network);
  checkEvidence(network);
  checkProofs(network);
  const heights = honest(network).map(({ node }) => node?.head.height ?? 0);
  return {
    name: `${kind.name}${isWild ? ', any branch' : ''}, R = ${maxRollback}`,
    problems: network.checks.problems,
    finalHeight: network.checks.finalHeight,
    height: Math.max(...heights),
    evidence: Math.max(
      ...honest(network).map(({ node }) => node?.engine.pool.evidence.list().length ?? 0),
    ),
    log: network.log,
  };
}

/** Where some kinds of problems are looked for, others are no reason to stop. */
const isOver = ({ checks }: Network, kinds: readonly Kind[] | undefined): boolean =>
  checks.problems.some(({ kind }) => kinds?.includes(kind) ?? true);

const honest = (network: Network): Member[] =>
  network.members.filter((member) => !network.isLiar(member));

function happen(network: Network, dice: Dice): void {
  const { members } = network;
  const { isWild } = network.settings;
  const what = dice.below(10);
  if (what < 3) network.divide(members.map(() => dice.below(2)));
  else if (what === 3) network.divide(members.map(() => dice.below(3)));
  else if (what < 6 && isWild) network.divide(members.map((_, i) => i));
  else if (what < 6) network.divide(members.map(() => 0));
  network.slowness = dice.happens(0.3) ? 0.1 : 0;
  for (const member of members) {
    if (member.node === undefined) {
      if (dice.happens(0.5)) network.start(member);
      continue;
    }
    member.disk.failures = dice.happens(0.1) ? 0.3 : 0;
    if (network.isLiar(member) || !dice.happens(0.1)) continue;
    // At any moment of the next rounds, in a write or not.
    const { node } = member;
    network.world.after(dice.below(3000), () => {
      if (member.node !== node || !network.areLiarsActive) return;
      network.kill(member);
      if (mayLose(network) && dice.happens(0.2)) lose(network, member);
    });
  }
}

/** With more lost notes no quorum may be left, and an operator has to decide. */
function mayLose(network: Network): boolean {
  if (network.settings.isWild) return true;
  const lost = network.members.filter((one) => network.isLiar(one) || !one.hasKeptNote).length;
  return lost < Math.floor((network.members.length - 1) / 3) && network.settings.sets.length === 1;
}

function lose(network: Network, member: Member): void {
  member.disk.content.note = undefined;
  member.hasKeptNote = false;
  network.checks.lostNote(member.account.publicKey);
  network.say(member, 'loses its note');
}

/** Everything works, and liars are silent. */
async function settle(network: Network): Promise<void> {
  network.areLiarsActive = false;
  network.changes = 0;
  network.slowness = 0;
  network.divide(network.members.map(() => 0));
  for (const member of network.members) {
    if (network.isLiar(member)) network.kill(member);
    else if (member.node === undefined) network.start(member);
  }
  for (const member of honest(network)) member.disk.failures = 0;
  await network.run(3);
  const votes = honest(network).map(({ node }) => node!.noteHeight() ?? 0);
  const target = Math.max(...votes, ...honest(network).map(({ node }) => node!.head.height));
  const before = network.checks.finalHeight;
  const roundsMax = 3 * (network.members.length + 2) + 2 * (target - before);
  let rounds = 0;
  let working = 0;
  let common = 0;
  while (rounds++ < roundsMax && lowestFinal(network) <= Math.max(before, target)) {
    await network.run(1);
    const tip = commonTip(network);
    if (tip === undefined || tip <= common) continue;
    // The round in which heads converge is none of those after it.
    if (common > 0) working++;
    common = tip;
    if (lowestFinal(network) <= before && working > network.members.length + 2) {
      network.checks.say('late', `final ${before} after ${working} rounds with one head`);
      break;
    }
  }
  if (lowestFinal(network) <= before) {
    network.checks.say(
      'standstill',
      `final ${lowestFinal(network)}, was ${before}, votes to ${target}`,
    );
  }
  if (new Set(honest(network).map(({ node }) => node!.head.parent)).size > 2) {
    network.checks.say('standstill', 'heads differ');
  }
}

/** The height of the block that all honest nodes follow. */
function commonTip(network: Network): number | undefined {
  const [first, ...others] = honest(network).map(({ node }) => node!.head);
  return others.every((head) => head === first) ? first!.height : undefined;
}

const lowestFinal = (network: Network): number =>
  Math.min(...honest(network).map(({ node }) => node?.engine.final().height ?? 0));

/** Contradictions give evidence, and never against who kept its note. */
function checkEvidence(network: Network): void {
  for (const { node } of honest(network)) {
    if (node === undefined) continue;
    const { evidence, kept } = node.engine.pool;
    const liars = new Set(evidence.list().map(([{ voter }]) => latin1(voter)));
    for (const member of network.members) {
      const { publicKey, name } = member.account;
      const voter = latin1(publicKey);
      const isHonest = !network.isLiar(member) && member.hasKeptNote;
      if (isHonest && liars.has(voter)) {
        network.checks.say('evidence', `against ${name}, which kept its note`);
      }
      const votes = kept.of(voter);
      const isSeen = votes.some((a, i) => votes.some((b, k) => k < i && areContradictory(a, b)));
      if (isSeen && !liars.has(voter)) {
        network.checks.say('evidence', `none against ${name}`);
      }
    }
  }
}

/** What a node knows to be final has a proof for those who have no chain. */
function checkProofs(network: Network): void {
  const root = trackedRoot(network.genesis);
  const trusted = {
    genesis: network.genesis.id,
    height: 1,
    ruleHash: decidingOn(root.leaves, scheme).ruleHash,
  };
  for (const { node, account } of honest(network)) {
    if (node === undefined) continue;
    const { final } = node.engine.tracker;
    if (final.height === 1) continue;
    const chain = chainOf(node.toys.get(latin1(final.id))!);
    const head = node.tracked(node.head);
    for (const block of [chain.at(-1)!, chain[Math.floor(chain.length / 2)]!]) {
      const steps = stepsTo(block.height, trusted, { blocks: node.index, head, final }, scheme);
      const end = steps?.at(-1)?.link.source.height ?? 0;
      const headers = chain.slice(block.height - 1, end).map(({ header }) => header);
      const verdict = verifyOffline({ steps: steps ?? [], headers }, trusted, scheme);
      const isProved = verdict.isProved && verdict.block.height === block.height;
      if (!isProved) {
        network.checks.say(
          'proof',
          `${account.name}: block ${block.height}: ${JSON.stringify(verdict)}`,
        );
      }
    }
  }
}
