// A release as `npm run release` makes it, installed in each way that docs/guide/operations.md names: by
// npm, by dpkg, and as an image on a real engine.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import packageJson from '../../../package.json' with { type: 'json' };
import { whyNoPackage } from '../../../scripts/release/debian.ts';
import { makeDebianRoot, whyNoDebian } from '../../containers/debian-root.ts';
import { sharedEngine } from '../../containers/engine.ts';
import { leftOut } from '../../left-out.ts';
import { temporaryFolder } from '../e2e/dev-node.ts';
import { debianPackage } from './debian-package.ts';
import { nodeInImage } from './image.ts';
import { MODULES, output, ROOT } from './programs.ts';
import { globalCommand } from './tarball.ts';

/** What a release is not made of. */
const LEFT = new Set(['node_modules', 'dist', 'release', '.git', '.tap', 'test', 'bench']);
const EPOCH = { SOURCE_DATE_EPOCH: '1700000000' };

t.setTimeout(400_000);
t.jobs = 1;

const npm = await output(ROOT, 'npm', ['--version']).catch(() => undefined);
const reason = npm === undefined ? 'there is no npm to pack with' : whyNoPackage();
const skip = reason !== undefined && leftOut(reason);

t.test('a release', { skip }, async (t) => {
  const temporary = temporaryFolder(t);
  const source = join(temporary, 'source');
  mkdirSync(source);
  for (const name of readdirSync(ROOT)) {
    if (!LEFT.has(name)) cpSync(join(ROOT, name), join(source, name), { recursive: true });
  }
  symlinkSync(MODULES, join(source, 'node_modules'));
  const release = (...flags: string[]): Promise<string> => {
    const args = ['run', '--silent', 'release', '--', '--level=0', ...flags];
    return output(source, 'npm', args, EPOCH);
  };
  const sums = await release();
  const folder = join(source, 'release');
  const tarball = join(folder, `platform-node-${packageJson.version}.tgz`);
  const deb = join(folder, readdirSync(folder).find((name) => name.endsWith('.deb')) ?? '');

  await t.test('checksums, and twice the same bytes', async (t) => {
    t.equal(readFileSync(join(folder, 'SHA256SUMS'), 'utf8'), sums);
    t.match(await output(folder, 'sha256sum', ['--check', 'SHA256SUMS']), /tgz: OK\n.*deb: OK\n/);
    const again = await release(`--out=${join(temporary, 'again')}`, `--tarball=${tarball}`);
    t.equal(again, sums, 'the package does not depend on when and where it is built');
    t.ok(statSync(deb).size > 1e8, 'it has its Node');
  });
  await t.test('by npm', (t) => globalCommand(t, tarball));

  const root = join(temporary, 'debian');
  const noDebian = whyNoDebian();
  const skipDebian = noDebian !== undefined && leftOut(noDebian);
  if (skipDebian === false) {
    mkdirSync(root);
    makeDebianRoot(root);
  }
  const engine = await sharedEngine();
  const skipImage = skipDebian || (typeof engine === 'string' && leftOut(engine));
  await t.test('as an image', { skip: skipImage }, async (t) => {
    if (typeof engine !== 'string') await nodeInImage(t, engine, root, deb);
  });
  await t.test('by dpkg', { skip: skipDebian }, (t) => debianPackage(t, { root, deb, tarball }));
  t.notOk(existsSync(join(ROOT, 'release')), 'the checkout is as it was');
});
