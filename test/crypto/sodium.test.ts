/** How the package of libsodium is loaded. */
import { createRequire } from 'node:module';
import t from 'tap';
import { sodium } from '../../src/crypto/sodium.ts';

const load = createRequire(import.meta.url);

t.test('the addon lies where it usually does, so nothing seeks it', async (t) => {
  const digest = new Uint8Array(32);
  sodium.crypto_generichash(digest, new Uint8Array());
  t.equal(Buffer.from(digest).toString('hex').slice(0, 16), '0e5751c026e543b2');
  t.equal(sodium, load('sodium-native'), 'it is the package itself');
  const loaded = Object.keys(load.cache);
  t.ok(loaded.some((path) => path.endsWith('/sodium-native/index.js')));
  t.notOk(loaded.some((path) => path.includes('/require-addon/')));
});
