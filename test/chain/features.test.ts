// Votes for features: windows, approval, activation, and the answers to clients.
import fc from 'fast-check';
import t from 'tap';
import {
  activationStatus,
  countVotes,
  lacksFeatures,
  unknownFeatures,
  votesFor,
} from '../../src/chain/features/feature-activation.ts';
import { viewOf } from '../../src/ledger/committed-view.ts';
import { createOverlay, type KeyedOverlay } from '../../src/ledger/overlay.ts';
import { features, featureVotes } from '../../src/ledger/tables.ts';
import { activeFeatures, addedFeatures, implementedFeatures } from '../../src/tx/rules/features.ts';
import { scheme } from '../block/sample.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';

const PRE_ACTIVATED = [2, 3, 4, 5, 6, 7, 9, 10, 100, 101];

const settings = {
  nativeToken: 'WEST',
  fees: {
    enabled: true,
    base: new Map<number, bigint>(),
    additional: new Map<number, bigint>(),
    scriptExtra: 0n,
  },
  txExpireTimeoutMs: 7_200_000,
  senderRoleEnabled: false,
  preActivatedFeatures: new Map(PRE_ACTIVATED.map((id) => [id, 0])),
  featureCheckBlocks: 10,
  featureApprovalVotes: 7,
};

const AUTO = { autoSupport: true, supported: [] };

const state = (): KeyedOverlay => createOverlay(viewOf(createMemoryStore(), scheme));

/** Blocks first..last, each with these votes. */
function blocks(
  ledger: KeyedOverlay,
  first: number,
  last: number,
  votes: readonly number[],
  rules = settings,
): void {
  for (let height = first; height <= last; height++) countVotes(ledger, height, votes, rules);
}

const statusOf = (ledger: KeyedOverlay, height: number, id: number, rules = settings) =>
  activationStatus(ledger, height, rules, AUTO).features.find((feature) => feature.id === id);

t.test(
  'scenario 112: VOTING below the threshold, APPROVED at the window end, ACTIVATED one later',
  async (t) => {
    const ledger = state();
    blocks(ledger, 1, 3, []);
    blocks(ledger, 4, 9, [120]);
    t.match(statusOf(ledger, 9, 120), { blockchainStatus: 'VOTING', supportingBlocks: 6 });
    blocks(ledger, 10, 10, [120]);
    t.match(statusOf(ledger, 10, 120), { blockchainStatus: 'APPROVED', activationHeight: 20 });
    t.equal(statusOf(ledger, 10, 120)?.supportingBlocks, undefined);
    blocks(ledger, 11, 19, []);
    t.notOk(activeFeatures(ledger, 19, settings).has(120));
    t.ok(activeFeatures(ledger, 20, settings).has(120));
    t.match(statusOf(ledger, 19, 120), { blockchainStatus: 'APPROVED' });
    t.match(statusOf(ledger, 20, 120), { blockchainStatus: 'ACTIVATED', activationHeight: 20 });
  },
);

t.test('votes of two windows do not add up', async (t) => {
  const ledger = state();
  blocks(ledger, 5, 10, [120]);
  t.match(statusOf(ledger, 10, 120), { supportingBlocks: 6 }, 'told up to the last height');
  blocks(ledger, 11, 16, [120]);
  t.match(statusOf(ledger, 16, 120), { supportingBlocks: 6 });
  blocks(ledger, 17, 20, []);
  t.match(statusOf(ledger, 20, 120), { blockchainStatus: 'VOTING', supportingBlocks: 6 });
  blocks(ledger, 21, 21, []);
  t.match(statusOf(ledger, 21, 120), { supportingBlocks: 0 });
  t.equal(ledger.get(featureVotes, [1, 120]), undefined, 'old windows leave no rows');
  t.equal(ledger.get(featureVotes, [11, 120]), undefined);
});

t.test('windows of state.md#features', async () => {
  const ledger = state();
  const length = fc.integer({ min: 2, max: 5000 });
  fc.assert(
    fc.property(length, fc.integer({ min: 1, max: 1e6 }), (w, height) => {
      const rules = { ...settings, featureCheckBlocks: w };
      const { nextCheck } = activationStatus(ledger, height, rules, AUTO);
      t.equal(nextCheck, (Math.floor((height - 1) / w) + 1) * w);
      t.ok(nextCheck >= height && nextCheck < height + w);
    }),
  );
});

t.test('scenario 48: a rollback over the approval leaves the feature unapproved', async (t) => {
  const ledger = state();
  blocks(ledger, 1, 6, [120]);
  const mark = ledger.mark();
  blocks(ledger, 7, 10, [120]);
  t.strictSame(ledger.get(features, 120), { approvedAt: 10 });
  ledger.revert(mark);
  t.equal(ledger.get(features, 120), undefined);
  t.match(statusOf(ledger, 6, 120), { blockchainStatus: 'VOTING', supportingBlocks: 6 });
  blocks(ledger, 7, 20, []);
  t.equal(ledger.get(features, 120), undefined, 'six votes are too few');
  blocks(ledger, 21, 30, [120]);
  t.strictSame(ledger.get(features, 120), { approvedAt: 30 }, 'voted again');
});

t.test(
  'scenario 112: a feature this node does not know is noticed when it is active',
  async (t) => {
    const ledger = state();
    const later = 173;
    blocks(ledger, 1, 10, [later]);
    t.match(statusOf(ledger, 10, later), {
      description: 'Micro-block inventory v2',
      blockchainStatus: 'APPROVED',
      nodeStatus: 'NOT_IMPLEMENTED',
    });
    t.strictSame(unknownFeatures(activeFeatures(ledger, 19, settings)), []);
    t.strictSame(unknownFeatures(activeFeatures(ledger, 20, settings)), [later]);
    t.equal(statusOf(ledger, 10, 9999), undefined);
    blocks(ledger, 11, 11, [9999]);
    t.match(statusOf(ledger, 11, 9999), {
      description: 'Unknown feature',
      nodeStatus: 'NOT_IMPLEMENTED',
      supportingBlocks: 1,
    });
  },
);

t.test('a feature that this release lacks changes nothing below its activation', async (t) => {
  const UNKNOWN = 162;
  const ledger = state();
  t.notOk(lacksFeatures(ledger, Number.POSITIVE_INFINITY, settings));
  blocks(ledger, 1, 10, [UNKNOWN]);
  t.notOk(lacksFeatures(ledger, 19, settings), 'approved');
  t.ok(lacksFeatures(ledger, 20, settings), 'active');
  t.ok(lacksFeatures(ledger, Number.POSITIVE_INFINITY, settings));
  const later = new Map([...settings.preActivatedFeatures, [UNKNOWN, 50]]);
  const preActivated = { ...settings, preActivatedFeatures: later };
  t.notOk(lacksFeatures(state(), 49, preActivated));
  t.ok(lacksFeatures(state(), 50, preActivated));
});

t.test('pre-activated features need no vote', async (t) => {
  const ledger = state();
  const preActivatedFeatures = new Map([
    [2, 0],
    [120, 50],
  ]);
  const rules = { ...settings, preActivatedFeatures };
  t.match(statusOf(ledger, 1, 2, rules), { blockchainStatus: 'ACTIVATED', activationHeight: 0 });
  t.match(statusOf(ledger, 49, 120, rules), { blockchainStatus: 'APPROVED', activationHeight: 50 });
  t.match(statusOf(ledger, 50, 120, rules), { blockchainStatus: 'ACTIVATED' });
  blocks(ledger, 1, 10, [2, 120], rules);
  t.equal(ledger.size, 0, 'votes for them are not counted');
  t.notOk(activeFeatures(ledger, 49, rules).has(120));
  t.ok(activeFeatures(ledger, 50, rules).has(120));
});

t.test('a block votes for what is supported and undecided', async (t) => {
  const ledger = state();
  t.strictSame(votesFor(ledger, settings, AUTO), addedFeatures);
  const chosen = { autoSupport: false, supported: [130, 2, 120, 9999] };
  t.strictSame(votesFor(ledger, settings, chosen), [120, 130]);
  t.strictSame(votesFor(ledger, settings, { autoSupport: false, supported: [] }), []);
  const fresh = { ...settings, preActivatedFeatures: new Map() };
  t.notOk(votesFor(ledger, fresh, AUTO).includes(2), 'a new network does not vote for feature 2');
  t.ok(
    votesFor(ledger, fresh, { autoSupport: true, supported: [2] }).includes(2),
    'unless asked to',
  );
  blocks(ledger, 1, 10, [120]);
  const others = addedFeatures.filter((id) => id !== 120);
  t.strictSame(votesFor(ledger, settings, AUTO), others, 'approved already');
});

t.test('decision 41: VOTED only for ids named in features.supported', async (t) => {
  const { features: found, ...rest } = activationStatus(state(), 15, settings, {
    autoSupport: true,
    supported: [120, 9999],
  });
  t.strictSame(rest, { height: 15, votingInterval: 10, votingThreshold: 7, nextCheck: 20 });
  t.strictSame(
    found.map(({ id }) => id),
    implementedFeatures,
    'ids ascend',
  );
  for (const { id, nodeStatus } of found) {
    t.equal(nodeStatus, id === 120 ? 'VOTED' : 'IMPLEMENTED');
  }
  t.strictSame(found[0], {
    id: 2,
    description: 'NG Protocol',
    blockchainStatus: 'ACTIVATED',
    activationHeight: 0,
    nodeStatus: 'IMPLEMENTED',
  });
});

t.test('a threshold of one vote and of every block', async (t) => {
  for (const featureApprovalVotes of [1, 10]) {
    const rules = { ...settings, featureApprovalVotes };
    const ledger = state();
    blocks(ledger, 1, featureApprovalVotes - 1, [120], rules);
    blocks(ledger, featureApprovalVotes, 10, [], rules);
    t.equal(ledger.get(features, 120), undefined);
    blocks(ledger, 11, 10 + featureApprovalVotes, [120], rules);
    blocks(ledger, 11 + featureApprovalVotes, 20, [], rules);
    t.strictSame(ledger.get(features, 120), { approvedAt: 20 });
  }
});
