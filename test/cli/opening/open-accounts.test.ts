// What of the keys may begin before the store is open.
import t from 'tap';
import { deriveEarly } from '../../../src/cli/opening/open-accounts.ts';
import type { Config } from '../../../src/node/config/settings.ts';
import { memoryLog } from '../../node/memory-ports.ts';

const derived = (wallet: object, signer: object = {}) =>
  deriveEarly({ wallet, signer } as unknown as Config, memoryLog());

t.test('nothing where somebody must be asked, or where a signer has the keys', async (t) => {
  t.equal(derived({ file: 'wallet' }), undefined);
  t.equal(derived({ file: 'wallet', password: 'given' }, { socket: '/run/signer' }), undefined);
  t.equal(derived({ file: 'wallet', password: 'given' }, { host: 'signer' }), undefined);
});

t.test('a failure waits until it is asked for', async (t) => {
  const opening = derived({ file: t.testdir({ folder: {} }), password: 'given' });
  await new Promise((resolve) => setTimeout(resolve, 50));
  await t.rejects(async () => opening, { message: /keystore.*wallet\.file/ });
});
