/** The metrics of a whole node about its peers. */
import t from 'tap';
import type { Labels, Metrics } from '../../src/base/ports/metrics.ts';
import { cluster } from './cluster.ts';
import { maverick } from './maverick.ts';

/** Counters and gauges by name and labels, as a scrape would show them. */
function scraped(): { metrics: Metrics; read(): ReadonlyMap<string, number> } {
  const values = new Map<string, number>();
  const readers: (() => void)[] = [];
  const key = (name: string, labels: Labels = {}): string =>
    [name, ...Object.values(labels)].join(' ');
  const nothing = (): void => {};
  return {
    metrics: {
      counter: (name) => ({
        add(amount = 1, labels) {
          values.set(key(name, labels), (values.get(key(name, labels)) ?? 0) + amount);
        },
      }),
      gauge: (name) => ({
        set: (value, labels) => void values.set(key(name, labels), value),
        remove: (labels) => void values.delete(key(name, labels)),
      }),
      histogram: () => ({ observe: nothing, start: () => nothing }),
      onRead: (action) => void readers.push(action),
    },
    read() {
      for (const reader of readers) reader();
      return values;
    },
  };
}

t.test('sessions, messages, offences and reorganisations', async (t) => {
  const at = await cluster(t, { miners: ['one', 'two', 'three', 'maverick'] });
  const { metrics, read } = scraped();
  const one = await at.start('one', { metrics });
  await at.start('two', { set: ['network.mode=watcher'] });
  await at.start('three');
  await at.rounds(10);
  const value = (name: string): number => read().get(name) ?? 0;
  const sessions = ['default', 'watcher'].map(
    (mode) => value(`node_peers ${mode} in`) + value(`node_peers ${mode} out`),
  );
  t.strictSame(sessions, [1, 1], 'by mode');
  t.ok(value('node_peers_known') >= 2);
  t.equal(value('node_sync_state idle'), 1);
  t.equal(value('node_sync_missing_blocks'), 0);
  for (const protocol of ['hs', 'head', 'new-block']) {
    for (const direction of ['in', 'out']) {
      const label = `${protocol} ${direction}`;
      t.ok(value(`node_peer_messages_total ${label}`) > 0, label);
      t.ok(value(`node_peer_bytes_total ${label}`) > 0, label);
    }
  }

  const mav = await maverick(t, at, 'maverick');
  mav.pester([one]);
  await at.seconds(2);
  mav.notifyAll('head/1', new Uint8Array(3));
  await at.seconds(2);
  t.equal(value('node_peer_offences_total malformed-message blacklisted'), 1);

  at.part(['one'], ['two', 'three']);
  await at.rounds(30);
  at.heal();
  await at.seconds(150);
  const own = one.log.of('chain.reorganised');
  t.equal(value('node_chain_rollbacks_total'), own.length);
  const depth = own.reduce((sum, line) => sum + Number(line['depth']), 0);
  t.equal(value('node_chain_rolled_back_blocks_total'), depth);
});
