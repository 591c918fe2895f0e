// The metrics of a node, and rates between two readings.
import t from 'tap';
import { MetricsText, ratesBetween } from '../../../../src/cli/commands/top/metrics-text.ts';

const textOf = (requests: number, state: string): MetricsText =>
  new MetricsText(`# HELP node_rest_requests_total x
# TYPE node_rest_requests_total counter
node_rest_requests_total{method="GET",route="/a",status="200"} ${requests}
node_rest_requests_total{method="GET",route="/b{c}",status="404"} 1
node_transactions_accepted_total 1e3
node_process_resident_bytes 1048576
node_miner_state{state="mining"} ${state === 'mining' ? 1 : 0}
node_miner_state{state="no-quorum"} ${state === 'mining' ? 0 : 1}
nonsense {{{
node_disk_free_bytes
`);

t.test('rates, states and values', async (t) => {
  const rates = ratesBetween(textOf(10, 'mining'), textOf(40, 'no-quorum'), 2);
  t.match(rates, { requests: 15, accepted: 0, refused: 0, miner: 'no-quorum' });
  t.equal(rates.residentBytes, 1_048_576);
  t.equal(rates.diskFreeBytes, undefined);
  t.equal(rates.synchronisation, undefined);
  const first = textOf(10, 'mining');
  t.equal(ratesBetween(first, first, 0).requests, 0, 'a first reading has none');
  t.equal(ratesBetween(textOf(40, 'mining'), textOf(1, 'mining'), 2).requests, 0, 'a new start');
});
