/** Misbehaviours of a peer that claims a better chain. */
import { equal } from '../../../src/base/bytes.ts';
import type { Block } from '../../../src/block/block.ts';
import { blockAt } from '../../../src/chain/store/stored-blocks.ts';
import {
  blockProtocols,
  decodeIdList,
  encodeBlocks,
  encodeIds,
  encodeTip,
} from '../../../src/network/messages/block-messages.ts';
import { scheme } from '../../chain/chain-harness.ts';
import { GENESIS_TIME, tipOf } from '../cluster.ts';
import { blockOn } from '../maverick.ts';
import { offence, type Row, randomId, type Scene } from './row.ts';

function lie({ mav, node, rng }: Scene): void {
  const { height, score } = tipOf(node);
  const head = { height: height + 50, id: randomId(rng), score: score + 10n ** 20n };
  mav.notifyAll(blockProtocols.head, encodeTip(head, scheme));
}

export const aboutSync: readonly Row[] = [
  {
    name: 'scenario 103: a score, and no answer to anything',
    act(scene) {
      if (scene.second % 10 === 0) lie(scene);
    },
    blame: offence('unanswered-request', 'close'),
  },

  {
    name: 'scenario 103: a score, ids, and no blocks',
    act(scene) {
      const { mav, rng } = scene;
      mav.answers.set(blockProtocols.ids, async (message) => {
        const [common] = decodeIdList(message, scheme);
        const next = Array.from({ length: 30 }, () => randomId(rng));
        return encodeIds({ common: common!, next }, scheme);
      });
      if (scene.second % 10 === 0) lie(scene);
    },
    blame: offence('unanswered-request', 'close'),
  },

  {
    name: 'a score, and the own blocks of the one who asks',
    act(scene) {
      const { mav, node } = scene;
      mav.answers.set(blockProtocols.ids, async (message) => {
        const common = decodeIdList(message, scheme).at(-1)!;
        return encodeIds({ common, next: [tipOf(node).id] }, scheme);
      });
      if (scene.second % 10 === 0) lie(scene);
    },
    // Its true score, a second later, looks like a rollback.
    blame: { event: 'sync.given-up', fields: { why: /^a score without the blocks/ } },
  },

  {
    name: 'answers that nobody has asked for',
    act(scene) {
      const { mav, rng, node } = scene;
      const next = [randomId(rng)];
      mav.answers.set(blockProtocols.ids, async (message) =>
        encodeIds({ common: decodeIdList(message, scheme)[0]!, next }, scheme),
      );
      const other = blockOn(node, mav, scene.now);
      mav.answers.set(blockProtocols.blocks, async () => encodeBlocks([other.bytes], scheme));
      if (scene.second % 10 === 0) lie(scene);
    },
    blame: offence('malformed-message', 'blacklisted'),
  },

  {
    name: 'a score, and correct but useless blocks, each just in time',
    // Its peers have patience as long as blocks come.
    seconds: 150,
    act(scene) {
      const { mav, at } = scene;
      const ids = useless(scene).map(({ header }) => header.signature);
      mav.answers.set(blockProtocols.ids, async (message) => {
        const known = decodeIdList(message, scheme);
        const from = 1 + ids.findIndex((one) => equal(one, known[0]!));
        const common = known.at(from === 0 ? -1 : 0)!;
        return encodeIds({ common, next: ids.slice(from, from + 100) }, scheme);
      });
      mav.answers.set(blockProtocols.blocks, async (message) => {
        const [first] = decodeIdList(message, scheme);
        await new Promise<void>((resolve) => void at.clock.after(3_900, resolve));
        const found = useless(scene).filter(({ header }) => equal(header.signature, first!));
        return encodeBlocks(
          found.map(({ bytes }) => bytes),
          scheme,
        );
      });
      if (scene.second % 5 === 0) lie(scene);
    },
    blame: { event: 'sync.given-up', fields: { why: /^no block that could be adopted/ } },
  },

  {
    name: 'a score that is taken back as soon as it is followed',
    act(scene) {
      const { mav, node } = scene;
      mav.answers.set(blockProtocols.ids, async (message) => {
        mav.notifyAll(blockProtocols.head, encodeTip(tipOf(node), scheme));
        const common = decodeIdList(message, scheme)[0]!;
        await new Promise<void>((resolve) => void scene.at.clock.after(1_000, resolve));
        return encodeIds({ common, next: [tipOf(node).id] }, scheme);
      });
      lie(scene);
    },
    blame: { event: 'sync.given-up', fields: { why: 'a score without the blocks for it' } },
  },

  {
    name: 'a score, and blocks that join no chain',
    act(scene) {
      const { mav } = scene;
      const orphans = useless(scene).slice(1, 20);
      mav.answers.set(blockProtocols.ids, async (message) => {
        const known = decodeIdList(message, scheme);
        const next = known.length > 1 ? orphans.map(({ header }) => header.signature) : [];
        return encodeIds({ common: known[0]!, next }, scheme);
      });
      mav.answers.set(blockProtocols.blocks, async (message) => {
        const asked = decodeIdList(message, scheme);
        return encodeBlocks(
          asked.map((id) => orphans.find(({ header }) => equal(header.signature, id))?.bytes),
          scheme,
        );
      });
      // A node at its genesis names one id alone, which the answer above takes for the end of the
      // orphans; the peer would be ignored for a score without blocks before it sent any.
      if (scene.second % 5 === 0 && scene.nodes.every((one) => tipOf(one).height > 2)) lie(scene);
    },
    blame: { event: 'sync.given-up', fields: { why: 'unknown-parent' } },
  },

  {
    name: 'a score, and no block in common',
    act(scene) {
      scene.mav.answers.set(blockProtocols.ids, async () => encodeIds(undefined, scheme));
      if (scene.second % 5 === 0) lie(scene);
    },
    blame: { event: 'sync.given-up', fields: { why: 'no common block' } },
  },

  {
    name: 'a score, and a common block that was not asked about',
    act(scene) {
      const { mav, rng } = scene;
      mav.answers.set(blockProtocols.ids, async () =>
        encodeIds({ common: randomId(rng), next: [randomId(rng)] }, scheme),
      );
      if (scene.second % 5 === 0) lie(scene);
    },
    blame: offence('malformed-message', 'blacklisted'),
  },

  {
    name: 'a score, and forged blocks of the real chain',
    act(scene) {
      const { mav, node } = scene;
      const { view } = node.node.blockchain;
      const tip = () => node.node.blockchain.tip();
      const newest = blockAt(view, tip().height)!;
      mav.answers.set(blockProtocols.ids, async (message) => {
        const common = decodeIdList(message, scheme).at(-1)!;
        return encodeIds({ common, next: [randomId(scene.rng)] }, scheme);
      });
      mav.answers.set(blockProtocols.blocks, async (message) => {
        const [asked] = decodeIdList(message, scheme);
        const bytes = newest.bytes.slice();
        // The id that was asked for, over what somebody else has signed.
        bytes.set(asked!, bytes.length - asked!.length);
        return encodeBlocks([bytes], scheme);
      });
      if (scene.second % 5 === 0) lie(scene);
    },
    blame: offence('invalid-block', 'blacklisted'),
  },
];

/** A block that skips many rounds adds next to nothing to the score. */
const WORTHLESS = { kind: 'poa', skippedRounds: 1_000_000 } as const;

const made = new WeakMap<Scene['mav'], Block[]>();

/** A fork at the genesis block whose blocks are signed and follow each other. */
function useless({ mav, node, at }: Scene): readonly Block[] {
  const blocks = made.get(mav) ?? [];
  made.set(mav, blocks);
  while (blocks.length < 200) {
    const reference = (blocks.at(-1) ?? at.genesis).header.signature;
    const timestamp = GENESIS_TIME + blocks.length + 1;
    blocks.push(blockOn(node, mav, timestamp, { reference, consensus: WORTHLESS }));
  }
  return blocks;
}
