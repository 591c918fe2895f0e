// What a scrape shows of finality.
import t from 'tap';
import { servePrometheus } from '../../../src/adapters/prometheus.ts';
import { watchFinality } from '../../../src/node/metrics/measure-finality.ts';
import { nodeMetrics } from '../../../src/node/metrics/observability.ts';
import type { FinalityReport } from '../../../src/rest/services.ts';

const voter = (address: string, votedHeight: number) => ({ address, votedHeight });

const REPORT: FinalityReport = {
  isActive: true,
  finalHeight: 7,
  finalRuleHash: '',
  justifiedHeight: 8,
  voters: [voter('3a', 9), voter('3b', 7)],
  next: [voter('3c', 0)],
  ownVotes: 'voting',
  waits: false,
  conflict: '',
  contradictions: [],
  headHeight: 0,
  headHash: '',
  overrides: [],
};

t.test('lag, missing voters by name, contradictions and waiting', async (t) => {
  const { metrics, port, close } = await servePrometheus({ host: '127.0.0.1', port: 0 });
  t.teardown(close);
  let report: FinalityReport | undefined;
  watchFinality({ report: () => report, height: () => 9, own: '3a' }, nodeMetrics(metrics));
  const shown = async (): Promise<string[]> =>
    (await (await fetch(`http://127.0.0.1:${port}/metrics`)).text())
      .split('\n')
      .filter((line) => line.startsWith('node_finality_'));
  t.strictSame(await shown(), [], 'nothing where nobody votes');
  report = REPORT;
  const first = await shown();
  for (const line of [
    'node_finality_height 7',
    'node_finality_lag_blocks 2',
    'node_finality_waits 0',
    'node_finality_conflict 0',
    'node_finality_voter_missing{voter="3a"} 0',
    'node_finality_voter_missing{voter="3b"} 1',
    'node_finality_voter_missing{voter="3c"} 1',
    'node_finality_own_votes{state="voting"} 1',
    'node_finality_own_votes{state="without-note"} 0',
    'node_finality_contradictions{own="yes"} 0',
    'node_finality_contradictions{own="no"} 0',
  ]) {
    t.ok(first.includes(line), line);
  }
  report = {
    ...REPORT,
    waits: true,
    conflict: 'two',
    next: [],
    contradictions: ['3a', '3b', '3d'],
  };
  const second = await shown();
  for (const line of [
    'node_finality_waits 1',
    'node_finality_conflict 1',
    'node_finality_contradictions{own="yes"} 1',
    'node_finality_contradictions{own="no"} 2',
  ]) {
    t.ok(second.includes(line), line);
  }
  t.notOk(second.join().includes('3c'), 'who is no voter any more leaves');
  report = undefined;
  t.strictSame(await shown(), [], 'nothing again once nobody votes');
  report = REPORT;
  t.strictSame(await shown(), first);
});
