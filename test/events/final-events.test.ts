// Which blocks are final, as readers of the events of a chain hear it.
import t from 'tap';
import { finalFloor } from '../../src/chain/finality/final-floor.ts';
import { ChainFeed } from '../../src/events/chain-feed.ts';
import { EventStreams } from '../../src/events/event-streams.ts';
import type { EventKind } from '../../src/events/event-text.ts';
import { NodeFinality } from '../../src/node/open-finality.ts';
import { LENGTH_MS, miners, quiet, scheme, verifier } from '../chain/chain-harness.ts';
import {
  chainWith,
  justificationOf,
  mineCarrying,
  WITH_FINALITY,
} from '../chain/finality-harness.ts';

const NOTHING = new Uint8Array(0);

const settled = async (): Promise<void> => {
  for (let i = 0; i < 100; i++) await new Promise(setImmediate);
};

/** A chain that votes make final, and readers of its events. */
async function votedChain() {
  const at = await chainWith();
  await mineCarrying(at, NOTHING);
  const { blockchain, store } = at;
  const clock = { ...at.clock, after: () => () => {} };
  const finality = new NodeFinality(
    { isPoa: true, maxRollback: 9, roundMs: LENGTH_MS, notePath: '/n', votes: false, waits: false },
    {
      ...{ scheme, blockchain, rules: WITH_FINALITY, store, verifier, clock, log: quiet },
      owner: miners[0]!,
    },
  );
  finality.start();
  const streams = new EventStreams(
    { readersMax: 10, readersOfClientMax: 10 },
    {
      feed: new ChainFeed({ chain: blockchain, clock }),
      clock,
      headerText: String,
      final: {
        height: () => finalFloor(blockchain.view),
        listen(action) {
          finality.onFinal = action;
          return () => {};
        },
      },
    },
  );
  t.teardown(async () => {
    await streams.stop();
    finality.stop();
  });
  /** What a reader of these kinds hears. */
  const heard = (kinds: readonly EventKind[], from?: number, follows = true): string[] => {
    const events: string[] = [];
    const filter = { kinds: new Set(kinds) };
    const request = { filter, filterText: kinds.join(), client: '', from, follows };
    const write = (bytes: string | Uint8Array): boolean => {
      const text = Buffer.from(bytes).toString();
      for (const [, kind, data] of text.matchAll(/^event: (\w+)\nid: .*\ndata: (.*)$/gm)) {
        events.push(kind === 'block' ? kind : `${kind} ${data}`);
      }
      return true;
    };
    streams.open(request).stream.begin({ write, end: () => {} });
    return events;
  };
  return { at, heard };
}

t.test('final blocks', async (t) => {
  const { at, heard } = await votedChain();
  const first = heard(['final']);
  const without = heard(['block']);
  for (const carried of [2, 3, 4]) {
    while (at.blockchain.tip().height < carried) await mineCarrying(at, NOTHING);
    await mineCarrying(at, justificationOf(at, carried));
    await settled();
  }
  t.equal(finalFloor(at.blockchain.view), 3);
  t.strictSame(first, ['final {"height":2}', 'final {"height":3}'], 'each height once');
  t.notOk(
    without.some((event) => event.startsWith('final')),
    'only for those that want them',
  );
  const late = heard(['block', 'final'], 1);
  await settled();
  const { height } = at.blockchain.tip();
  t.strictSame(late, [...Array(height).fill('block'), 'final {"height":3}'], 'behind their blocks');
  const once = heard(['final'], undefined, false);
  await settled();
  t.strictSame(once, ['final {"height":3}'], 'and at the beginning');
});
