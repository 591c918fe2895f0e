// `npm run release -- --out=FOLDER` takes away what an earlier run has made there, and nothing else.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { clearReleased } from '../../../scripts/release/folder.ts';

t.test('the folder of a release', async (t) => {
  const folder = t.testdir();
  const place = (...names: string[]): void => {
    for (const name of names) writeFileSync(join(folder, name), 'x');
  };
  place('platform-node-1.0.0.tgz', 'platform-node_1.0.0_amd64.deb', 'SHA256SUMS', 'thesis.txt');
  place('platform-node-1.1.0.tgz');
  mkdirSync(join(folder, 'sources'));
  clearReleased(folder, join(folder, 'platform-node-1.1.0.tgz'));
  t.strictSame(
    readdirSync(folder).sort(),
    ['platform-node-1.1.0.tgz', 'sources', 'thesis.txt'],
    'the tarball that is given stays as well',
  );
  clearReleased(join(folder, 'new', 'one'));
  t.strictSame(readdirSync(join(folder, 'new', 'one')), []);
});
