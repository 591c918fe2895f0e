// A node that learns of two final blocks stops, says so, and waits for its operators (finality.md#contradictions).
import t from 'tap';
import type { Files } from '../../../src/base/ports/files.ts';
import type { LogFields } from '../../../src/base/ports/log.ts';
import {
  finalFloor,
  proofAheadWrite,
  storedAhead,
} from '../../../src/chain/finality/final-floor.ts';
import { encodeFinalProof } from '../../../src/finality/proofs/final-proof.ts';
import { decodeJustification } from '../../../src/finality/proofs/justification.ts';
import { FINALITY_PROOFS } from '../../../src/network/messages/vote-messages.ts';
import type { NoticeHandler, Session, Sessions } from '../../../src/network/sessions/session.ts';
import { saveFinalProof } from '../../../src/node/finality/save-final-proof.ts';
import { NodeFinality } from '../../../src/node/open-finality.ts';
import type { VoterOverride } from '../../../src/tx/rules/chain-rules.ts';
import {
  LENGTH_MS,
  miners,
  nextTurn,
  payment,
  quiet,
  scheme,
  type TestChain,
  users,
  verifier,
} from '../../chain/chain-harness.ts';
import {
  blocksOf,
  blocksOfChain,
  chainOf,
  chainWith,
  justificationOf,
  linkTo,
  mineCarrying,
  WITH_FINALITY,
} from '../../chain/finality-harness.ts';
import { makeBlock } from '../../chain/make-block.ts';
import { memoryFiles } from '../../keystore/sample.ts';

const NOTHING = new Uint8Array(0);

/** Block 2 is final in it. `other`: it is another one. */
async function chain(other: boolean): Promise<TestChain> {
  const at = await chainWith();
  const txs = other ? [payment(users[0], users[1], 5n, nextTurn(at).time)] : [];
  await mineCarrying(at, NOTHING, txs);
  await mineCarrying(at, justificationOf(at, 2));
  await mineCarrying(at, justificationOf(at, 3));
  return at;
}

function proofOf(at: TestChain): Uint8Array {
  const { vote: link } = linkTo(at, 3);
  const justification = decodeJustification(justificationOf(at, 3), scheme);
  return encodeFinalProof({ link, justification }, scheme);
}

const settled = async () => {
  for (let i = 0; i < 30; i++) await new Promise((resolve) => setImmediate(resolve));
};

function started(at: TestChain, voterOverrides: readonly VoterOverride[] = []) {
  const events: [string, LogFields | undefined][] = [];
  const finality = new NodeFinality(
    { isPoa: true, maxRollback: 2, roundMs: LENGTH_MS, notePath: '/n', votes: true, waits: true },
    {
      scheme,
      blockchain: at.blockchain,
      rules: { ...WITH_FINALITY, voterOverrides },
      store: at.store,
      verifier,
      clock: { ...at.clock, after: () => () => {} },
      log: { ...quiet, error: (event, fields) => void events.push([event, fields]) },
      files: memoryFiles() as Files,
      owner: miners[0]!,
    },
  );
  const handlers = new Map<string, NoticeHandler>();
  const sent: Uint8Array[] = [];
  const session = {
    miner: miners[1]!.address,
    notify: (protocol: string, bytes: Uint8Array) =>
      void (protocol === FINALITY_PROOFS && sent.push(bytes)),
    offend: () => t.fail('no offence'),
  } as unknown as Session;
  finality.attach({
    all: () => [session],
    onOpen: () => {},
    handleNotices: (protocol: string, handler: NoticeHandler) => handlers.set(protocol, handler),
  } as unknown as Sessions);
  finality.start();
  t.teardown(() => finality.stop());
  const show = (bytes: Uint8Array) => handlers.get(FINALITY_PROOFS)!.take(session, bytes);
  return { finality, events, sent, show };
}

t.test('it stops, and does not start again before somebody has decided', async (t) => {
  const [at, other] = [await chain(false), await chain(true)];
  t.notSame(blocksOf(at).checkpoint(2).id, blocksOf(other).checkpoint(2).id);
  const { finality, events, sent, show } = started(at);
  await settled();
  t.match(finality.report(), { finalHeight: 2, conflict: '' });
  show(proofOf(at));
  await settled();
  t.equal(finality.problem(), undefined, 'the own one');
  t.equal(finality.lacksVotes(), false);
  show(proofOf(other));
  await settled();
  const text =
    /block 2 \(\w+\) is final here, and votes prove that block 2 \(\w+\) is final.*more than a third/;
  t.match(finality.problem(), text);
  t.match(finality.report(), { conflict: text, waits: false });
  t.match(events, [['finality.conflict', { final: 2, other: 2 }]]);
  t.strictSame(sent, [proofOf(other)], 'its peers are shown it');
  t.equal(finality.lacksVotes(), true, 'it makes no block');
  t.equal(finality.floor(), at.blockchain.tip().height, 'it changes to no branch');
  finality.stop();
  t.throws(() => started(at), {
    name: 'StartError',
    message:
      /two final blocks \(finality.overrides, data-directory\).*name who votes from a block above 2.*move data-directory.chain away/,
  });
  const block = blocksOf(at).checkpoint(at.blockchain.tip().height);
  const decided = started(at, [{ block, voters: [miners[0]!.publicKey] }]);
  decided.show(proofOf(other));
  await settled();
  t.equal(decided.finality.problem(), undefined, 'the operators have decided');
  t.strictSame(decided.events, []);
  const elsewhere = started(other);
  await settled();
  t.equal(elsewhere.finality.problem(), undefined, 'who has fetched the other chain');
});

t.test('a proof of a block that the chain lacks for now outlasts a restart', async (t) => {
  const at = await chainWith();
  await mineCarrying(at, NOTHING);
  const proof = proofOf(await chain(true));
  const seeks = async () => {
    const { finality } = started(at);
    await settled();
    finality.stop();
    return finality.seeksJustified();
  };
  t.equal(await seeks(), false);
  t.equal(await saveFinalProof(at, proof), false);
  t.equal(finalFloor(at.blockchain.view), 0, 'it is not shown');
  t.equal(await seeks(), true);
  const own = await chain(false);
  await own.store.write([proofAheadWrite(proof)]);
  t.equal(await saveFinalProof(own, proofOf(own)), true);
  t.equal(storedAhead(own.blockchain.view), undefined, 'until another one is shown');
});

t.test('what operators have decided is not asked again once more is final', async (t) => {
  const [at, other] = [await chain(false), await chain(true)];
  const [stays] = miners;
  const block = blocksOf(at).checkpoint(at.blockchain.tip().height);
  const voterOverrides = [{ block, voters: [stays!.publicKey] }];
  const settings = { ...WITH_FINALITY, voterOverrides };
  const on = await chainOf(blocksOfChain(at), settings, at.clock.time);
  const mineAlone = (carried: Uint8Array) => {
    on.clock.time = on.blockchain.nextSlot(stays!, nextTurn(on).time)!.from + 10;
    const miner = { ...stays!, carried: () => carried };
    return makeBlock(on.blockchain, miner, on.clock.time, async () => {});
  };
  await mineAlone(NOTHING);
  for (const height of [5, 6]) {
    await mineAlone(justificationOf(on, height, [stays!], {}, settings));
  }
  const { finality, events, show } = started(on, voterOverrides);
  await settled();
  t.match(finality.report(), { finalHeight: 5 });
  show(proofOf(other));
  await settled();
  t.equal(finality.problem(), undefined);
  t.strictSame(events, []);
});
