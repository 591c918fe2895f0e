/** A disk that fills, by bytes or by files. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { watchDisk } from '../../../../src/adapters/containers/images/disk-watch.ts';
import { systemClock } from '../../../../src/adapters/system.ts';
import { contractLimits } from '../../../../src/base/limits/contract-limits.ts';
import { leftOut } from '../../../left-out.ts';

const MIB = 1024 * 1024;
const clock = systemClock(undefined);
const isRoot = process.getuid?.() === 0;
const skip = !isRoot && leftOut('a file system of its own needs root');

/** An empty disk in memory, of which nothing is used before it is written. */
function disk(scope: Test, options: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'disk-'));
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  if (status !== 0) throw new Error(String(stderr));
  scope.teardown(() => {
    spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** What the watch says once `fill` has filled the disk. */
async function watched(folder: string, growthMax: number, fill: () => void): Promise<string> {
  let end = (): void => {};
  const said = new Promise<string>((resolve) => {
    void watchDisk([folder, '/no/such/folder'], clock)
      .begin(growthMax, resolve)
      .then((watch) => {
        end = watch.end;
        fill();
      });
  });
  const what = await said;
  end();
  return what;
}

t.test('the disk of the engine', { skip }, async (t) => {
  const folder = disk(t, 'size=3g,nr_inodes=2000000');
  const write = (mib: number) => () => writeFileSync(join(folder, 'x'), Buffer.alloc(mib * MIB));
  t.equal(await watched(folder, 10 * MIB, write(12)), 'growth');
  const { diskFree } = contractLimits;
  const small = disk(t, `size=${diskFree.value + 8 * MIB}`);
  const fillSmall = () => writeFileSync(join(small, 'x'), Buffer.alloc(9 * MIB));
  t.equal(await watched(small, 100 * MIB, fillSmall), 'full');
});

t.test('who has filled it', { skip }, async (t) => {
  const folder = disk(t, 'size=3g');
  const file = join(folder, 'x');
  const watch = await watchDisk([folder], clock).begin(10 * MIB, () => {});
  watch.end();
  writeFileSync(file, Buffer.alloc(12 * MIB));
  const freed = watch.isFreed();
  rmSync(file);
  t.equal(await freed, true, 'what a pull leaves goes a little later');
  writeFileSync(file, Buffer.alloc(12 * MIB));
  t.equal(await watch.isFreed(), false, 'what others wrote stays');
});

t.test('its files', { skip }, async (t) => {
  const folder = disk(t, 'size=3g,nr_inodes=1000');
  const fill = (): void => {
    for (let i = 0; i < 960; i++) mkdirSync(join(folder, String(i)));
  };
  t.equal(await watched(folder, 100 * MIB, fill), 'full');
});

t.test('many new files', { skip }, async (t) => {
  const most = contractLimits.growthFiles.value;
  const folder = disk(t, `size=3g,nr_inodes=${4 * most}`);
  // As if so many had been made, which would take long.
  const fewer = (files: number) => () =>
    void spawnSync('mount', ['-o', `remount,nr_inodes=${4 * most - files}`, folder]);
  t.equal(await watched(folder, 100 * MIB, fewer(most + 1000)), 'growth');
});

t.test('a disk that cannot be seen', async (t) => {
  t.equal(await watchDisk(['/no/such/folder'], clock).freeBytes(), undefined);
  t.equal(await watchDisk([], clock).freeBytes(), undefined);
  t.type(await watchDisk(['/'], clock).freeBytes(), 'number');
});
