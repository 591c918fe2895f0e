// `npm ci` refuses a lock file that names an optional dependency without an entry, but only on
// machines whose registry has that package. So this test checks that the lock file is complete.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { complete, LOCK_FILES, type LockFile, missingOptional } from '../../scripts/lock.ts';

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
const lock: LockFile = read('package-lock.json');
const manifest = read('package.json');

for (const file of LOCK_FILES) {
  const locked: LockFile = read(file);

  t.test(`${file} is complete`, async (t) => {
    t.strictSame(missingOptional(locked), [], 'run `npm run lock`');
    t.equal(JSON.stringify(complete(locked)), JSON.stringify(locked), 'completing changes nothing');
  });

  t.test(`${file} belongs to the package.json beside it`, async (t) => {
    const root = locked.packages[''];
    const asked = read(file.replace('package-lock', 'package'));
    t.match(root, { name: asked.name, version: asked.version });
    t.strictSame(root?.dependencies, asked.dependencies);
    t.strictSame(root?.['devDependencies'], asked.devDependencies);
  });

  t.test(`${file} names no host and no path of a machine`, async (t) => {
    const resolved = Object.values(locked.packages).map((entry) => String(entry['resolved'] ?? ''));
    t.strictSame(
      resolved.filter((place) => place !== '' && !place.startsWith('vendor/')),
      [],
    );
  });
}

t.test('versions are pinned exactly', async (t) => {
  const all = Object.entries<string>({ ...manifest.dependencies, ...manifest.devDependencies });
  const loose = all.filter(
    ([, version]) => !/^((npm:[\w.@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?|file:vendor\/.+)$/.test(version),
  );
  t.strictSame(loose, []);
});

t.test('the one uWebSockets.js is ours', async (t) => {
  const found = Object.keys(lock.packages).filter((path) => path.endsWith('uWebSockets.js'));
  t.strictSame(found, ['node_modules/uWebSockets.js', 'vendor/uWebSockets.js']);
});

t.test('an entry is added with the platform its name tells', async (t) => {
  const before: LockFile = {
    packages: {
      'node_modules/a': {
        version: '1.0.0',
        optionalDependencies: { '@a/cli-linux-x64-musl': '1.0.0' },
      },
      'node_modules/a/node_modules/b': {
        optionalDependencies: { 'c-win32-amd64': '2.0.0', d: '^1.0.0' },
      },
      'node_modules/d': { version: '1.2.3' },
      'node_modules/stray': { extraneous: true },
    },
  };
  const { packages } = complete(before);
  t.strictSame(Object.keys(packages), [
    'node_modules/@a/cli-linux-x64-musl',
    'node_modules/a',
    'node_modules/a/node_modules/b',
    'node_modules/c-win32-amd64',
    'node_modules/d',
  ]);
  t.strictSame(packages['node_modules/@a/cli-linux-x64-musl'], {
    version: '1.0.0',
    os: ['linux'],
    cpu: ['x64'],
    libc: ['musl'],
    optional: true,
  });
  t.strictSame(packages['node_modules/c-win32-amd64'], {
    version: '2.0.0',
    os: ['win32'],
    cpu: ['x64'],
    optional: true,
  });
});
