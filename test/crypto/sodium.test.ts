/** How the package of libsodium is loaded. */
import { spawnSync } from 'node:child_process';
import { cpSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

t.test('an addon that this machine cannot load is left to the search of the package', async (t) => {
  const folder = t.testdir({ node_modules: {}, 'package.json': '{"type":"module"}' });
  const from = dirname(load.resolve('sodium-native/package.json'));
  const to = join(folder, 'node_modules/sodium-native');
  const machine = `prebuilds/${process.platform}-${process.arch}`;
  for (const name of ['package.json', 'index.js', 'binding.js', `${machine}/sodium-native.node`]) {
    cpSync(join(from, name), join(to, name), { recursive: true });
  }
  for (const name of ['require-addon', 'which-runtime']) {
    symlinkSync(join(dirname(from), name), join(folder, 'node_modules', name));
  }
  const source = fileURLToPath(new URL('../../src/crypto/sodium.ts', import.meta.url));
  cpSync(source, join(folder, 'sodium.ts'));
  const loads = () => {
    const program = `const { sodium } = await import('./sodium.ts');
      console.log(typeof sodium.crypto_generichash);`;
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program];
    return spawnSync(process.execPath, args, { cwd: folder, env: {}, encoding: 'utf8' });
  };
  const addon = join(to, machine, 'sodium-native.node');
  // The package prefers one that names its version.
  const { version } = load('sodium-native/package.json') as { version: string };
  const preferred = join(to, machine, `sodium-native@${version}.node`);
  renameSync(addon, preferred);
  writeFileSync(addon, 'for another libc');
  t.match(loads(), { stdout: 'function\n', stderr: '', status: 0 });
  writeFileSync(preferred, 'for another libc');
  t.match(
    loads(),
    { stderr: /Cannot load addon 'file:.*sodium-native/, status: 1 },
    'it tells why',
  );
});
