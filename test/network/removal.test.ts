// A 111 with `remove` on whole nodes: places, the log and the health of the node that is removed.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { make } from '../privacy/members.ts';
import { type ClusterNode, cluster, PORT } from './cluster.ts';

t.test('scenario 98: removed, and registered again', async (t) => {
  const at = await cluster(t, { miners: ['one', 'two', 'three'] });
  const names = ['one', 'two', 'three'] as const;
  const [one, two, three] = (await Promise.all(names.map((name) => at.start(name)))) as [
    ClusterNode,
    ClusterNode,
    ClusterNode,
  ];
  await at.rounds(4);
  const places = ({ node }: ClusterNode): string[] =>
    node.services.peers!.book.known().map(({ address }) => `${address.host}:${address.port}`);
  const peers = ({ node }: ClusterNode): number => node.services.peers!.sessions.all().length;
  const register = (opType: 'add' | 'remove') =>
    one.node.pool.submit(
      make(one, at.clock.now(), {
        ...{ type: 111, opType, nodeName: 'three', fee: 1_000_000 },
        target: base58.encode(three.address),
        targetPubKey: base58.encode(three.publicKey),
      }),
    );
  const place = `${three.host}:${PORT}`;
  t.ok(places(one).includes(place));
  t.equal(three.node.services.node.outside(), undefined);

  await register('remove');
  await at.rounds(4);
  for (const node of [one, two]) t.notOk(places(node).includes(place), 'although it is configured');
  t.strictSame([one, two, three].map(peers), [1, 1, 0]);
  await at.seconds(120);
  t.match(three.log.of('network.removed'), [{ owner: three.text }]);
  t.equal(three.log.of('network.removed').length, 1);
  t.match(three.node.services.node.outside(), three.text);
  t.strictSame(one.log.of('network.removed'), []);

  await register('add');
  await at.rounds(4);
  for (const node of [one, two]) t.ok(places(node).includes(place));
  await at.seconds(70);
  t.strictSame([one, two, three].map(peers), [2, 2, 2]);
  t.equal(three.node.services.node.outside(), undefined);
});
