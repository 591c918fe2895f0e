// Proofs for who has no chain (finality.md#proofs): through changes of the voters, and every reason to refuse one.
import t, { type Test } from 'tap';
import { decodeLink, encodeLink } from '../../../src/block/header.ts';
import { voteFor } from '../../../src/finality/carried.ts';
import {
  type OfflineProof,
  type ProofStep,
  type TrustedCheckpoint,
  verifyOffline,
} from '../../../src/finality/proofs/offline-proof.ts';
import { type Vote, voteBytes } from '../../../src/finality/votes/vote.ts';
import { decidingOn, type VoterSet, voterSet } from '../../../src/finality/votes/voter-set.ts';
import type { VoterSets } from '../../../src/finality/votes/voter-sets.ts';
import { family } from '../../family.ts';
import { Dice } from '../../system/sim/random.ts';
import { accounts, setOf, type ToyBlock } from '../network/toy-chain.ts';
import { stepsTo } from '../proof-steps.ts';
import { ToyEngine } from '../toy-engine.ts';
import { scheme } from '../vectors.ts';

const four = setOf(1, 2, 3, 4);
const others = setOf(1, 5, 6, 7);
const dice = new Dice(21);

/** Blocks 1 to 8. Block 3 begins a change from four voters to others, and block 5 completes it. */
const toy = new ToyEngine(four);
const chain: ToyBlock[] = [toy.root];
for (const [entitled, ...voters] of [
  [four, 1, 2, 3],
  [others, 1, 2, 3],
  [others, 1, 2, 3, 5, 6],
  [others, 1, 2, 4, 6, 7],
  [others, 1, 5, 6],
  [others, 5, 6, 7],
  [others, 1, 5, 7],
] as const) {
  const block = toy.follow(toy.block(chain.at(-1)!, entitled));
  await toy.votes(block, ...voters);
  chain.push(block);
}
const hashOf = (sets: VoterSets<VoterSet>) => decidingOn(sets, scheme).ruleHash;
const leaves = (height: number) => toy.tracked(chain[height - 1]!).leaves;
const trusted = (height: number): TrustedCheckpoint => ({
  genesis: toy.root.id,
  height,
  ruleHash: hashOf(leaves(height)),
});
const root = trusted(1);

function proofOf(height: number, from = root): OfflineProof {
  const head = toy.tracked(chain.at(-1)!);
  const { final } = toy.engine.tracker;
  const steps = stepsTo(height, from, { blocks: toy.index, head, final }, scheme)!;
  const end = steps.at(-1)!.link.source.height;
  return { steps, headers: chain.slice(height - 1, end).map(({ header }) => header) };
}

/** A step that these accounts sign, whatever it says. */
function stepOf(link: Vote, sets: VoterSets<VoterSet>, ...names: readonly number[]): ProofStep {
  const message = voteBytes(link, scheme);
  const votes = decidingOn(sets, scheme).members.keys.map((key) => {
    const signer = accounts.find(({ publicKey }) => Buffer.compare(publicKey, key) === 0)!;
    const isAsked = names.includes(Number(signer.name));
    return isAsked ? family.sign(signer.privateKey, message, dice) : undefined;
  });
  return { link, justification: { target: link.target, votes }, sets };
}

/** The link that makes the block final, as its voters sign it. */
function linkTo(height: number): Vote {
  const child = toy.tracked(chain[height]!);
  return voteFor(child, decidingOn(child.deciding, scheme), toy.root.id);
}

const refused = (t: Test, proof: OfflineProof, why: RegExp, from = root): void => {
  const verdict = verifyOffline(proof, from, scheme);
  t.match(verdict, { isProved: false, why });
};

t.test('each block, from the genesis block or from a block above it', async (t) => {
  t.equal(toy.engine.tracker.final.height, 7);
  t.equal(leaves(2).next, undefined);
  t.strictSame(leaves(3).next, { voters: others, since: 3 });
  t.strictSame(leaves(5), { change: 1, current: others, next: undefined });
  for (const from of [1, 2, 3, 4, 5, 6]) {
    for (let height = from; height <= 7; height++) {
      const proof = proofOf(height, trusted(from));
      const verdict = verifyOffline(proof, trusted(from), scheme);
      const block = { height, id: chain[height - 1]!.id };
      t.match(verdict, { isProved: true, block }, `block ${height} from ${from}`);
    }
  }
  t.equal(proofOf(7).steps.length, 2, 'one of them completes the change');
  t.equal(proofOf(7, trusted(5)).steps.length, 1);
  const { final } = toy.engine.tracker;
  const head = toy.tracked(chain.at(-1)!);
  t.equal(stepsTo(8, root, { blocks: toy.index, head, final }, scheme), undefined);
});

t.test('a proof that begins elsewhere', async (t) => {
  const proof = proofOf(7);
  refused(t, proof, /another network/, { ...root, genesis: chain[1]!.id });
  refused(t, proof, /voters are not known/, { ...root, ruleHash: new Uint8Array(32) });
  refused(t, proof, /voters are not known/, trusted(5));
  refused(t, proofOf(7, trusted(5)), /voters are not known/);
  const sets = { change: 0, current: setOf(1, 2, 3, 5), next: undefined };
  const link = { ...linkTo(2), ruleHash: hashOf(sets) };
  const { headers } = proofOf(2);
  refused(t, { steps: [stepOf(link, sets, 1, 2, 3, 5)], headers }, /voters are not known/);
});

t.test('steps that do not follow each other', async (t) => {
  const { steps, headers } = proofOf(7);
  const [first, last] = [steps[0]!, steps[1]!];
  refused(t, { steps: [last], headers }, /voters are not known/);
  refused(t, { steps: [last, first], headers }, /voters are not known/);
  refused(t, { steps: [first, first], headers }, /voters are not known/);
  refused(t, { steps: [first], headers }, /last header/);
  refused(t, { steps: [], headers }, /no step/);
  const low = stepOf(linkTo(2), leaves(2), 1, 2, 3);
  const lower = { ...linkTo(2), source: chain[0]!, target: chain[1]! };
  const lowest = stepOf(lower, leaves(1), 1, 2, 3);
  refused(t, { steps: [low, lowest], headers }, /below the one before/);
  const { isProved } = verifyOffline({ steps: [lowest, low, first, last], headers }, root, scheme);
  t.ok(isProved, 'more steps than are needed');
});

t.test('sets that are not those of the step before', async (t) => {
  const { steps, headers } = proofOf(7);
  const [first, last] = [steps[0]!, steps[1]!];
  for (const sets of [
    { change: 2, current: others, next: undefined },
    { change: 0, current: others, next: undefined },
    { change: 1, current: four, next: undefined },
    { change: 1, current: setOf(5, 6, 7), next: undefined },
  ]) {
    const link = { ...last.link, ruleHash: hashOf(sets) };
    const names = sets.current === four ? [1, 2, 3, 4] : [1, 5, 6, 7];
    const step = stepOf(link, sets, ...names);
    refused(t, { steps: [first, step], headers }, /voters are not known/);
  }
  const unsigned = { ...last, sets: { ...last.sets, next: { voters: four, since: 6 } } };
  refused(t, { steps: [first, unsigned], headers }, /votes are of other voters/);
  // A quorum has signed, but not for these sets, whose new voters are the stranger's own.
  const own = { ...leaves(2), next: { voters: others, since: 2 } };
  const stolen = stepOf(linkTo(2), own, 1, 2, 3, 5, 6);
  refused(t, { steps: [stolen], headers: proofOf(2).headers }, /votes are of other voters/);
  const begun = { change: 1, current: others, next: { voters: four, since: 6 } };
  const link = { ...last.link, ruleHash: hashOf(begun) };
  const one = { steps: [first, stepOf(link, begun, 1, 5, 6, 7)], headers };
  refused(t, one, /votes are missing/);
  const both = { steps: [first, stepOf(link, begun, 1, 2, 3, 5, 6)], headers };
  t.ok(verifyOffline(both, root, scheme).isProved, 'a change that began later');
});

t.test('the votes of a step', async (t) => {
  const { headers } = proofOf(2);
  const link = linkTo(2);
  const sets = leaves(2);
  const good = stepOf(link, sets, 1, 2, 3);
  t.ok(verifyOffline({ steps: [good], headers }, root, scheme).isProved);
  const { justification } = good;
  const { target, votes } = justification;
  const having = (changed: readonly (Uint8Array | undefined)[]): OfflineProof => ({
    steps: [{ ...good, justification: { target, votes: changed } }],
    headers,
  });
  refused(t, having(votes.slice(1)), /of other voters/);
  refused(t, having([...votes, votes[0]]), /of other voters/);
  refused(t, having([]), /of other voters/);
  refused(t, { steps: [stepOf(link, sets, 1, 2)], headers }, /missing/);
  refused(t, { steps: [stepOf(link, sets)], headers }, /missing/);
  const signature = votes.find((vote) => vote !== undefined)!;
  refused(t, having(votes.map(() => signature)), /wrong signature/);
  const all = stepOf(link, sets, 1, 2, 3, 4).justification.votes;
  for (let i = 0; i < 4; i++) {
    const wrong = all.map((vote, k) => (k === i ? new Uint8Array(64) : vote));
    refused(t, having(wrong), /wrong signature/);
  }
  const otherChild = { ...link, target: { ...link.target, id: chain[0]!.id } };
  refused(t, { steps: [{ ...good, link: otherChild }], headers }, /wrong signature/);
  const otherFinal = { ...link, source: { ...link.source, id: chain[0]!.id } };
  refused(t, { steps: [{ ...good, link: otherFinal }], headers }, /wrong signature/);
});

t.test('a voter that is named twice counts once', async (t) => {
  const keys = [1, 1, 1, 2].map((n) => accounts[n - 1]!.publicKey);
  t.equal(voterSet(keys, scheme).keys.length, 2);
  const sets = { change: 0, current: voterSet(keys, scheme), next: undefined };
  const link = { ...linkTo(2), ruleHash: hashOf(sets) };
  const from = { ...root, ruleHash: hashOf(sets) };
  const { headers } = proofOf(2);
  refused(t, { steps: [stepOf(link, sets, 1)], headers }, /missing/, from);
});

t.test('a link that makes nothing final', async (t) => {
  const far = { ...linkTo(2), target: { ...linkTo(2).target, height: 4 } };
  const { headers } = proofOf(2);
  refused(t, { steps: [stepOf(far, leaves(2), 1, 2, 3)], headers }, /not to the next block/);
  const down = { ...linkTo(2), target: { ...linkTo(2).target, height: 2 } };
  refused(t, { steps: [stepOf(down, leaves(2), 1, 2, 3)], headers }, /not to the next block/);
});

t.test('headers', async (t) => {
  const { steps, headers } = proofOf(3, trusted(5));
  t.equal(headers.length, 3, 'blocks 3 to 5');
  const having = (...changed: readonly Uint8Array[]): OfflineProof => ({ steps, headers: changed });
  const from = trusted(5);
  t.ok(verifyOffline(having(...headers), from, scheme).isProved);
  const [low, middle, high] = [headers[0]!, headers[1]!, headers[2]!];
  refused(t, having(), /no header/, from);
  refused(t, having(low, middle), /last header/, from);
  refused(t, having(high, middle, low), /last header/, from);
  refused(t, having(low, high), /do not follow/, from);
  refused(t, having(low, low, middle, high), /do not follow/, from);
  refused(t, having(low.subarray(1), middle, high), /damaged/, from);
  for (let at = 0; at < low.length; at += 7) {
    const changed = low.slice();
    changed[at] = changed[at]! ^ 1;
    refused(t, having(changed, middle, high), /damaged|do not follow/, from);
  }
});

t.test('headers that bind no parent follow nothing', async (t) => {
  const { steps } = proofOf(1);
  const plain = decodeLink(chain[0]!.header, scheme);
  const { bound: _, ...rest } = plain;
  const first = encodeLink({ ...rest, version: 3 }, scheme);
  const last = encodeLink({ ...rest, version: 3, timestamp: 1 }, scheme);
  const id = scheme.fastHash(last);
  const link = { ...linkTo(1), source: { height: 5, id }, target: { height: 6, id } };
  const step = stepOf(link, leaves(1), 1, 2, 3);
  t.ok(verifyOffline({ steps: [step], headers: [last] }, root, scheme).isProved);
  refused(t, { steps: [step], headers: [first, last] }, /do not follow/);
  t.ok(steps.length > 0);
});

t.test('more headers than the height of the final block', async (t) => {
  const { steps, headers } = proofOf(1);
  const { header } = toy.block(toy.root);
  const first = decodeLink(headers[0]!, scheme);
  const bound = { ...first.bound!, parentHash: scheme.fastHash(header) };
  const second = encodeLink({ ...first, bound }, scheme);
  const id = scheme.fastHash(second);
  const link = { ...steps[0]!.link, source: { height: 1, id } };
  const step = stepOf(link, leaves(1), 1, 2, 3);
  refused(t, { steps: [step], headers: [header, second] }, /too many headers/);
});
