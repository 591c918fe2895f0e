// What a start, a vote and the questions of a miner cost, however far the final block is behind.
import t from 'tap';
import type { Files } from '../../src/base/ports/files.ts';
import { FinalityIndex } from '../../src/chain/finality/finality-index.ts';
import { voteBytes } from '../../src/finality/votes/vote.ts';
import { encodeVotes } from '../../src/finality/votes/votes-message.ts';
import type { LedgerView } from '../../src/ledger/ledger.ts';
import { VOTES } from '../../src/network/messages/vote-messages.ts';
import type { Session, Sessions } from '../../src/network/sessions/session.ts';
import { NodeFinality } from '../../src/node/open-finality.ts';
import {
  LENGTH_MS,
  mine,
  miners,
  quiet,
  scheme,
  type TestChain,
  verifier,
} from '../chain/chain-harness.ts';
import { chainWith, linkTo, WITH_FINALITY } from '../chain/finality-harness.ts';
import { memoryFiles } from '../keystore/sample.ts';

const SHORT = 560;
const LONG = 720;

/** Counts reads of the state, and questions to the index. */
class Counter {
  reads = 0;

  /** What an action takes. */
  async of(action: () => unknown): Promise<number> {
    const before = this.reads;
    await action();
    return this.reads - before;
  }

  view(view: LedgerView): LedgerView {
    return {
      scheme: view.scheme,
      get: (table, key) => {
        this.reads++;
        return view.get(table, key);
      },
      range: (...args) => {
        const rows = [...view.range(...args)];
        this.reads += 1 + rows.length;
        return rows;
      },
    };
  }

  /** Until the end of the test. */
  index(t: { teardown(action: () => void): void }): void {
    const { get } = FinalityIndex.prototype;
    const count = () => this.reads++;
    FinalityIndex.prototype.get = function (id, height) {
      count();
      return get.call(this, id, height);
    };
    t.teardown(() => {
      FinalityIndex.prototype.get = get;
    });
  }
}

async function costsOf(at: TestChain, counter: Counter) {
  let take: (message: Uint8Array) => void = () => {};
  const session = {
    miner: miners[1]!.address,
    owner: miners[1]!.address,
    notify: () => true,
    offend: (offence: string) => t.fail(offence),
  } as unknown as Session;
  const { blockchain } = at;
  const finality = new NodeFinality(
    { isPoa: true, maxRollback: 100, roundMs: LENGTH_MS, notePath: '/n', votes: true, waits: true },
    {
      scheme,
      blockchain: {
        view: counter.view(blockchain.view),
        tip: () => blockchain.tip(),
        listen: () => () => {},
      } as unknown as typeof blockchain,
      rules: WITH_FINALITY,
      store: at.store,
      verifier,
      clock: { ...at.clock, after: () => () => {} },
      log: quiet,
      files: memoryFiles() as Files,
      owner: miners[0]!,
    },
  );
  finality.attach({
    all: () => [session],
    handleNotices: (
      protocol: string,
      handler: { take(session: Session, message: Uint8Array): void },
    ) => {
      if (protocol === VOTES) take = (message) => handler.take(session, message);
    },
    onOpen: () => {},
  } as unknown as Sessions);
  const start = await counter.of(() => finality.start());
  t.teardown(() => finality.stop());
  const { height } = blockchain.tip();
  const { vote } = linkTo(at, height);
  const voteCost = await counter.of(async () => {
    const [, , { publicKey: voter, sign }] = miners as [unknown, unknown, (typeof miners)[0]];
    const signed = { ...vote, voter, signature: sign(voteBytes(vote, scheme)) };
    take(encodeVotes([signed], scheme));
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  });
  t.ok(
    finality.report()?.voters.some(({ votedHeight }) => votedHeight === height),
    'it was counted',
  );
  const miner = await counter.of(() => {
    finality.lacksVotes();
    finality.carried();
    finality.floor();
  });
  return { start, vote: voteCost, miner };
}

t.test('it does not depend on the distance', async (t) => {
  const counter = new Counter();
  counter.index(t);
  const at = await chainWith();
  while (at.blockchain.tip().height < SHORT) await mine(at);
  const near = await costsOf(at, counter);
  while (at.blockchain.tip().height < LONG) await mine(at);
  const far = await costsOf(at, counter);
  t.strictSame(far, near);
  t.ok(near.vote > 0 && near.miner > 0 && near.start > 0);
});
