/** Misbehaviours with votes on blocks, and with proofs of final ones (finality.md#spread). */
import { concat, equal } from '../../../src/base/bytes.ts';
import { DIGEST_BYTES } from '../../../src/base/sizes.ts';
import type { Block } from '../../../src/block/block.ts';
import { headerHash } from '../../../src/block/header.ts';
import { leavesAt } from '../../../src/chain/finality/finality-state.ts';
import { encodeFinalProof } from '../../../src/finality/proofs/final-proof.ts';
import { encodeJustification } from '../../../src/finality/proofs/justification.ts';
import { encodeVote, VOTE_BYTES, type Vote, voteBytes } from '../../../src/finality/votes/vote.ts';
import { type Deciding, decidingOn } from '../../../src/finality/votes/voter-set.ts';
import { encodeVotes, joinVotes } from '../../../src/finality/votes/votes-message.ts';
import { blockProtocols } from '../../../src/network/messages/block-messages.ts';
import { FINALITY_PROOFS, VOTES } from '../../../src/network/messages/vote-messages.ts';
import { feature, presetFeatures } from '../../../src/tx/rules/features.ts';
import { scheme } from '../../chain/chain-harness.ts';
import { tipOf } from '../cluster.ts';
import { blockOn, inFull } from '../maverick.ts';
import { nobody, offence, onTurn, type Row, type Scene } from './row.ts';

const active = [...presetFeatures, feature.finality].map((id) => `"${id}":0`).join(',');
const set = [`blockchain.custom.functionality.pre-activated-features={${active}}`];

function deciding({ node }: Scene): Deciding {
  const { view } = node.node.blockchain;
  return decidingOn(leavesAt(view, tipOf(node).height)!, scheme);
}

/** A vote for a block that nobody has made, above the head. */
function voteIn(scene: Scene, above = 2): Vote {
  const { at, node, rng } = scene;
  const { height } = tipOf(node);
  return {
    genesis: headerHash(at.genesis.header, scheme),
    ruleHash: deciding(scene).ruleHash,
    source: { height: height + above - 1, id: rng.bytes(32) },
    target: { height: height + above, id: rng.bytes(32) },
  };
}

const signedIn = (scene: Scene, vote: Vote, signed: Vote = vote) => {
  const { publicKey: voter, sign } = scene.mav;
  return { ...vote, voter, signature: sign(voteBytes(signed, scheme)) };
};

/** The maverick signs for everybody, which holds for itself alone. */
function proofIn(scene: Scene, vote: Vote): Uint8Array {
  const { keys } = deciding(scene).members;
  const signature = scene.mav.sign(voteBytes(vote, scheme));
  const justification = { target: vote.target, votes: keys.map(() => signature) };
  return encodeFinalProof({ link: vote, justification }, scheme);
}

/** The honest nodes have final blocks all the same. */
const finalAdvances: NonNullable<Row['after']> = (t, { nodes }) => {
  for (const { node, name } of nodes) {
    t.ok(node.finality.final()!.height > 5, `${name} has final blocks`);
  }
};

/** The same, and they have the evidence. */
const evidenceKept: NonNullable<Row['after']> = (t, scene) => {
  finalAdvances(t, scene);
  for (const { node, name } of scene.nodes) {
    const liars = node.finality.evidence().map(([{ voter }]) => voter);
    t.ok(liars.length === 1 && equal(liars[0]!, scene.mav.publicKey), `${name} has the evidence`);
  }
};

function boundBlock({ node, mav, now }: Scene, justification: Uint8Array): Block {
  const parentHash = headerHash(tipOf(node).header, scheme);
  const bound = { parentHash, bodyHash: new Uint8Array(DIGEST_BYTES), justification };
  return blockOn(node, mav, now, { version: 100, bound });
}

const LATE_SECONDS = 25;

/** It has the votes of all, and is shown when others have gone on. */
function withheld(): Row {
  let kept: { readonly from: number; readonly message: Uint8Array } | undefined;
  return {
    name: 'a block with the votes for its parent, shown late',
    set,
    act(scene) {
      const { node, mav, second, isTurn } = scene;
      if (isTurn && kept === undefined) {
        kept = { from: second, message: inFull(boundBlock(scene, node.node.finality.carried())) };
      }
      if (kept === undefined || second < kept.from + LATE_SECONDS) return;
      mav.notifyAll(blockProtocols.newBlock, kept.message);
      kept = undefined;
    },
    blame: nobody,
    after: finalAdvances,
  };
}

/** The block of its turn with the votes of these voters for its parent, each signed by the maverick. */
const carrying = (name: string, counts: (voter: Uint8Array, scene: Scene) => boolean): Row => ({
  name,
  set,
  act: onTurn((scene) => {
    const { node, mav } = scene;
    const { header, height } = tipOf(node);
    const target = { height, id: headerHash(header, scheme) };
    const signature = mav.sign(voteBytes({ ...voteIn(scene), target }, scheme));
    const { keys } = deciding(scene).members;
    const votes = keys.map((key) => (counts(key, scene) ? signature : undefined));
    const justification = encodeJustification({ target, votes }, scheme).slice();
    return inFull(boundBlock(scene, justification));
  }),
  blame: offence('invalid-block', 'blacklisted'),
  after: finalAdvances,
});

export const aboutVotes: readonly Row[] = [
  {
    name: 'two votes at one height',
    set,
    act(scene) {
      const votes = [voteIn(scene), voteIn(scene)].map((vote) => signedIn(scene, vote));
      scene.mav.notifyAll(VOTES, encodeVotes(votes, scheme));
    },
    // Others pass them on as well, and a key may be stolen.
    blame: nobody,
    after: evidenceKept,
  },
  {
    name: 'a vote around another',
    set,
    act(scene) {
      const [inner, outer] = [voteIn(scene, 2), voteIn(scene, 3)];
      const around = { ...outer, source: { ...outer.source, height: inner.source.height - 1 } };
      const votes = [inner, around].map((vote) => signedIn(scene, vote));
      scene.mav.notifyAll(VOTES, encodeVotes(votes, scheme));
    },
    blame: nobody,
    after: evidenceKept,
  },
  withheld(),
  carrying('a block with the votes of one voter', (key, { mav }) => equal(key, mav.publicKey)),
  carrying('a block with the votes of all, signed by one', () => true),
  {
    name: 'votes that are none',
    set,
    act({ mav, rng }) {
      mav.notifyAll(VOTES, concat(Uint8Array.of(1), rng.bytes(VOTE_BYTES + 96)));
    },
    blame: offence('malformed-message', 'blacklisted'),
    after: finalAdvances,
  },
  {
    name: 'a vote with the signature of another',
    set,
    act(scene) {
      const vote = signedIn(scene, voteIn(scene), voteIn(scene));
      scene.mav.notifyAll(VOTES, encodeVotes([vote], scheme));
    },
    blame: offence('malformed-message', 'blacklisted'),
    after: finalAdvances,
  },
  {
    name: 'votes for blocks that do not exist, at every height',
    set,
    act(scene) {
      const votes = Array.from({ length: 20 }, (_, i) => signedIn(scene, voteIn(scene, i + 1)));
      scene.mav.notifyAll(VOTES, encodeVotes(votes, scheme));
    },
    blame: nobody,
    after: finalAdvances,
  },
  {
    name: 'votes without end',
    set,
    act(scene) {
      const one = encodeVote(signedIn(scene, voteIn(scene)), scheme);
      for (let i = 0; i < 500; i++) scene.mav.notifyAll(VOTES, joinVotes([one]));
    },
    blame: offence('flood', 'blacklisted'),
    after: finalAdvances,
  },
  {
    name: 'a proof that is none',
    set,
    act({ mav, rng }) {
      mav.notifyAll(FINALITY_PROOFS, rng.bytes(400));
    },
    blame: offence('malformed-message', 'blacklisted'),
    after: finalAdvances,
  },
  {
    name: 'a proof that one voter has signed for all',
    set,
    act(scene) {
      scene.mav.notifyAll(FINALITY_PROOFS, proofIn(scene, voteIn(scene)));
    },
    blame: offence('malformed-message', 'blacklisted'),
    after: finalAdvances,
  },
  {
    name: 'a proof of other voters',
    set,
    act(scene) {
      const ruleHash = scene.rng.bytes(32);
      scene.mav.notifyAll(FINALITY_PROOFS, proofIn(scene, { ...voteIn(scene), ruleHash }));
    },
    blame: nobody,
    after: finalAdvances,
  },
  {
    name: 'proofs without end',
    set,
    act(scene) {
      const ruleHash = scene.rng.bytes(32);
      const one = proofIn(scene, { ...voteIn(scene), ruleHash });
      for (let i = 0; i < 200; i++) scene.mav.notifyAll(FINALITY_PROOFS, one);
    },
    blame: offence('flood', 'blacklisted'),
    after: finalAdvances,
  },
];
