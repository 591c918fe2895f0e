/** Arrivals of other hosts keep out none that the configuration names. */
import t from 'tap';
import { createArrivals } from '../../../src/adapters/libp2p/new-connections.ts';

type Socket = Parameters<ReturnType<typeof createArrivals>['isRefused']>[0];

const KEPT = '2001:db8::1';
/** More than any host may open in a second. */
const MANY = 150;
/** More than the hosts that are counted in a second. */
const CROWD = 10_001;

const from = (host: string): Socket =>
  ({
    remoteAddr: `/ip6/${host}/tcp/6864`,
    addEventListener: () => undefined,
    abort: () => undefined,
  }) as unknown as Socket;

t.test('a host of the configuration counts alone', async (t) => {
  const arrivals = createArrivals((host) => host === KEPT);
  const neighbours = Array.from({ length: MANY }, (_, i) => from(`2001:db8::f:${i}`));
  t.ok(neighbours.map(arrivals.isRefused).includes(true), 'its neighbours are one client');
  t.notOk(arrivals.isRefused(from(KEPT)));
});

t.test('a crowd of hosts keeps out no host of the configuration', async (t) => {
  const arrivals = createArrivals((host) => host === KEPT);
  // All within one second.
  t.capture(performance, 'now', () => 0);
  const lines = Array.from({ length: CROWD }, (_, i) => from(`2001:db8:${i.toString(16)}:1::1`));
  for (const line of lines) arrivals.isRefused(line);
  t.notOk(arrivals.isRefused(from(KEPT)));
});
