// A member whose own storage is slow or fails does not blame the peer that sends the data, and gets
// them later.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { filesShelf } from '../../src/adapters/private-store/files-shelf.ts';
import { verifiedStore } from '../../src/adapters/private-store/verified.ts';
import { temporaryFolder } from '../system/e2e/dev-node.ts';
import { dataOf, held, members } from './members.ts';

const FAULTS = ['slow', 'EIO', 'ENOSPC'] as const;

for (const fault of FAULTS) {
  t.test(`a storage that is ${fault}`, async (t) => {
    const network = await members(t, { miners: ['a'], others: ['b'] });
    const a = await network.keep('a');
    const folder = temporaryFolder(t);
    let isBroken = true;
    let writes = 0;
    const b = await network.start('b', {
      set: ['privacy.synchronizer.request-timeout=5s'],
      async privateStore(log) {
        const store = verifiedStore(await filesShelf(folder), log);
        return {
          ...store,
          async write(item, pieces) {
            writes++;
            if (!isBroken) return store.write(item, pieces);
            if (fault === 'slow') {
              for await (const _ of pieces) break;
              await new Promise((resolve) => network.clock.after(60_000, () => resolve(undefined)));
            }
            throw Object.assign(new Error(fault), { code: fault, errno: -1, syscall: 'write' });
          },
        };
      },
    });
    const keeper = { ...b, folder };
    const policyId = await network.policy([a, b], [a, b]);
    const bytes = randomBytes(200_000);
    await a.node.services.privacy!.send(dataOf(a, policyId, bytes), true);
    await network.until('an attempt', () => writes > 0);
    await network.seconds(10);
    t.notOk(await held(keeper, policyId, bytes));
    t.strictSame(b.log.of('peer.offence'), [], 'the peer did its part');
    isBroken = false;
    await network.until(
      'the data',
      async () => (await held(keeper, policyId, bytes)) !== undefined,
    );
    t.strictSame(b.log.of('peer.offence'), []);
  });
}
