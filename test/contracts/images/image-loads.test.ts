import t from 'tap';
import { createImageLoads } from '../../../src/contracts/images/image-loads.ts';

t.test('owners take turns at a container, however many contracts they have', async (t) => {
  const load = createImageLoads<string>(1)({ image: 'image', imageHash: 'ab' });
  for (const queue of ['a', 'b', 'c', 'd']) load.wait(queue, 'hostile');
  load.wait('good', 'other');
  load.wait('better', 'other');
  const order = Array.from({ length: 7 }, () => load.next());
  t.same(order, ['a', 'good', 'b', 'better', 'c', 'd', undefined]);
});
