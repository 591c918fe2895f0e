/** What a crawl says about how far it is. */
import t from 'tap';
import { showProgress } from '../../../../src/cli/commands/data/crawl-progress.ts';
import { newCrawlState } from '../../../../src/data-service/crawler/crawl-state.ts';
import { memoryLog } from '../../../node/memory-ports.ts';

t.test('progress is told while the crawler is behind, and not after its end', async (t) => {
  const log = memoryLog();
  let tick = (): void => {};
  const clock = {
    monotonic: () => 0,
    after(_ms: number, action: () => void) {
      tick = action;
      return () => {};
    },
  };
  const state = Object.assign(newCrawlState(), { height: 10, nodeHeight: 90 });
  const end = showProgress(state, clock, log, { write: t.fail });
  const said = (): number => {
    tick();
    return log.of('crawl.progress').length;
  };
  t.equal(said(), 1);
  state.stopped = 'the node belongs to a different network';
  t.equal(said(), 1);
  state.stopped = undefined;
  t.equal(said(), 2);
  state.height = 88;
  t.equal(said(), 2, 'near the node');
  end();
});
