// What only one machine may write does not go to a file system of several, unless the operator says so.
import t from 'tap';
import { judgedFileSystem } from '../../../src/adapters/shared-folders/file-systems.ts';
import { requireOwnFileSystem } from '../../../src/cli/opening/require-own-file-system.ts';
import type { Config } from '../../../src/node/config/settings.ts';

const NFS = judgedFileSystem(0x6969);
const FUSE = judgedFileSystem(0x65735546);
const EXT4 = judgedFileSystem(0xef53);
const config = (allowNetworkFileSystem: boolean) =>
  ({ storage: { allowNetworkFileSystem } }) as Config;

t.test('a network file system', (t) => {
  t.throws(() => requireOwnFileSystem(config(false), '/chain', 'data-directory', NFS), {
    name: 'StartError',
    message:
      /^folder \/chain \(data-directory\): it is on NFS, .*; .* set storage\.allow-network-file-system = yes$/,
  });
  t.equal(requireOwnFileSystem(config(true), '/chain', 'data-directory', NFS), 'NFS');
  t.end();
});

t.test('others', (t) => {
  t.equal(requireOwnFileSystem(config(false), '/chain', 'data-directory', FUSE), 'FUSE');
  t.equal(requireOwnFileSystem(config(false), '/chain', 'data-directory', EXT4), undefined);
  t.equal(requireOwnFileSystem(config(false), t.testdir()), undefined);
  t.end();
});
