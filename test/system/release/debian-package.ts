/**
 * The Debian package in a small Debian: installed, upgraded, removed and purged. No systemd runs there:
 * a program of its name notes what it is told.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import packageJson from '../../../package.json' with { type: 'json' };
import { buildPackage, GLIBC } from '../../../scripts/release/debian.ts';
import { temporaryFolder } from '../e2e/dev-node.ts';
import { output, ROOT, said } from './programs.ts';

const LATER = '99.0.0-rc.1';

/** Says that the service waits for its next attempt and is enabled, and notes the rest. */
const SYSTEMCTL =
  '#!/bin/sh\ncase $1 in is-*) ;; show) echo activating ;; *) echo "$*" >> /systemctl.log ;; esac\n';

export interface Packaged {
  readonly root: string;
  readonly deb: string;
  readonly tarball: string;
}

export async function debianPackage(t: Test, { root, deb, tarball }: Packaged): Promise<void> {
  const at = (path: string): string => join(root, path);
  const dpkg = (...args: string[]): Promise<string> =>
    said('dpkg', [`--root=${root}`, '--force-unsafe-io', ...args]);
  const inside = (...command: string[]): Promise<string> =>
    output('/', 'chroot', [root, ...command]);
  const told = (): string => {
    const text = readFileSync(at('systemctl.log'), 'utf8');
    writeFileSync(at('systemctl.log'), '');
    return text;
  };
  mkdirSync(at('run/systemd/system'), { recursive: true });
  mkdirSync(at('usr/local/bin'), { recursive: true });
  writeFileSync(at('usr/local/bin/systemctl'), SYSTEMCTL, { mode: 0o755 });

  await t.test('install', async (t) => {
    await dpkg('--install', deb);
    t.equal(told(), 'daemon-reload\n', 'without a configuration nothing starts');
    await installed(t, root, inside);
  });

  const conf = at('etc/platform-node/node.conf');
  const own = `${readFileSync(conf, 'utf8')}# of the operator\n`;
  const keystore = at('var/lib/platform-node/keystore.dat');
  await t.test('an upgrade that fails', async (t) => {
    const later = temporaryFolder(t);
    await output('/', 'dpkg-deb', ['--raw-extract', deb, later]);
    const control = join(later, 'DEBIAN/control');
    const text = readFileSync(control, 'utf8');
    writeFileSync(control, text.replace(/^Version: .*$/m, `Version: ${LATER}`));
    writeFileSync(join(later, 'DEBIAN/preinst'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const failing = join(temporaryFolder(t), 'failing.deb');
    await output('/', 'dpkg-deb', ['--build', '-Znone', later, failing]);
    await t.rejects(dpkg('--install', failing));
    t.equal(told(), 'stop platform-node\ndaemon-reload\nstart platform-node\n', 'it goes on');
    t.equal(
      JSON.parse(await inside('platform-node', 'version', '--json')).version,
      packageJson.version,
    );
  });
  await t.test('upgrade', async (t) => {
    writeFileSync(conf, own);
    chmodSync(conf, 0o600);
    writeFileSync(keystore, 'keys');
    await dpkg('--install', await laterPackage(t, tarball));
    t.equal(JSON.parse(await inside('platform-node', 'version', '--json')).version, LATER);
    t.equal(readFileSync(conf, 'utf8'), own, 'settings stay');
    t.equal(statSync(conf).mode & 0o777, 0o600, 'and who may read them');
    t.equal(told(), 'stop platform-node\ndaemon-reload\nstart platform-node\n');
    t.match(
      await dpkg('--verify', 'platform-node'),
      /^..5...... c \/etc\/platform-node\/node\.conf\n$/,
    );
  });

  await t.test('a removal that fails', async (t) => {
    const prerm = at('var/lib/dpkg/info/platform-node.prerm');
    const script = readFileSync(prerm, 'utf8');
    writeFileSync(prerm, `${script}exit 1\n`);
    await t.rejects(dpkg('--remove', 'platform-node'));
    writeFileSync(prerm, script);
    const node = 'platform-node';
    const steps = `disable --now ${node}\ndaemon-reload\nenable ${node}\nstart ${node}\n`;
    t.equal(told(), steps, 'it goes on, also after the next boot');
    t.equal(statSync(conf).mode & 0o777, 0o600, 'who may read the settings stays');
  });

  await t.test('remove', async (t) => {
    await dpkg('--remove', 'platform-node');
    t.equal(told(), 'disable --now platform-node\ndaemon-reload\n');
    const notes = readdirSync(at('run')).filter((name) => name.startsWith('platform-node'));
    t.strictSame(notes, [], 'the next installation starts nothing');
    t.notOk(existsSync(at('usr/lib/platform-node')));
    t.notOk(existsSync(at('usr/bin/platform-node')));
    t.equal(readFileSync(conf, 'utf8'), own, 'settings stay');
    t.equal(readFileSync(keystore, 'utf8'), 'keys');
  });

  await t.test('purge with keys', async (t) => {
    const said = await dpkg('--purge', 'platform-node');
    t.match(said, 'there may be keys in /var/lib/platform-node, so these folders and the user');
    t.match(said, 'Their passwords are gone where node.conf or environment had them');
    t.notOk(existsSync(at('etc/platform-node')));
    t.equal(readFileSync(keystore, 'utf8'), 'keys');
    t.match(
      await inside('getent', 'passwd', 'platform-node'),
      /platform-node/,
      'whose are the keys',
    );
  });

  await t.test('purge without keys', async (t) => {
    await dpkg('--install', deb);
    await inside('rm', '/var/lib/platform-node/keystore.dat');
    t.notMatch(await dpkg('--purge', 'platform-node'), /stay/);
    t.notOk(existsSync(at('var/lib/platform-node')));
    await t.rejects(inside('getent', 'passwd', 'platform-node'), 'nothing is left');
  });
}

/** What the package has put where. */
async function installed(
  t: Test,
  root: string,
  inside: (...command: string[]) => Promise<string>,
): Promise<void> {
  const at = (path: string): string => join(root, path);
  const { node, version } = JSON.parse(await inside('platform-node', 'version', '--json'));
  t.strictSame([version, `v${node}`], [packageJson.version, process.version]);
  t.match(
    await inside('platform-node', 'config', 'check', '/etc/platform-node/node.conf').catch(String),
    /genesis|owner/,
  );
  const unit = 'systemd/platform-node.service';
  t.equal(
    readFileSync(at('usr/lib/systemd/system/platform-node.service'), 'utf8'),
    readFileSync(join(ROOT, 'configs', unit), 'utf8'),
    'the unit of the guide',
  );
  for (const path of [
    'usr/share/man/man1/platform-node-start.1.gz',
    'usr/share/man/man5/platform-node.conf.5.gz',
    'usr/share/doc/platform-node/copyright',
    'usr/share/doc/platform-node/configs/example.conf',
    'usr/share/doc/platform-node/docs/guide/network.md',
  ]) {
    t.ok(existsSync(at(path)), path);
  }
  for (const [shell, path] of [
    ['bash', 'usr/share/bash-completion/completions/platform-node'],
    ['zsh', 'usr/share/zsh/vendor-completions/_platform-node'],
    ['fish', 'usr/share/fish/vendor_completions.d/platform-node.fish'],
  ] as const) {
    t.match(readFileSync(at(path), 'utf8'), 'platform-node', `completion of ${shell}`);
  }
  const facts = ['%U:%G %a %n', '/etc/platform-node/node.conf', '/etc/platform-node/environment'];
  t.equal(
    await inside('stat', '--format', ...facts, '/var/lib/platform-node'),
    'root:platform-node 640 /etc/platform-node/node.conf\n' +
      'root:root 600 /etc/platform-node/environment\n' +
      'platform-node:platform-node 700 /var/lib/platform-node\n',
  );
  t.match(
    await inside('getent', 'passwd', 'platform-node'),
    '/var/lib/platform-node:/usr/sbin/nologin',
  );
  const home = at('usr/lib/platform-node');
  const symbols = ['-rhoaE', 'GLIBC_2\\.[0-9]+', '--include=*.node', '--include=node', home];
  const needed = (await output('/', 'grep', symbols)).trim().split('\n');
  const minor = Math.max(...needed.map((one) => Number(one.split('.')[1])));
  t.ok(minor <= Number(GLIBC.split('.')[1]), `glibc 2.${minor} is what it depends on`);
}

/** The same with a later version. */
async function laterPackage(t: Test, tarball: string): Promise<string> {
  const folder = temporaryFolder(t);
  await output(folder, 'tar', ['-xzf', tarball]);
  const path = join(folder, 'package/package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as object;
  writeFileSync(path, JSON.stringify({ ...manifest, version: LATER }));
  const later = join(folder, `platform-node-${LATER}.tgz`);
  await output(folder, 'tar', ['-czf', later, 'package']);
  return buildPackage({
    root: ROOT,
    tarball: later,
    out: folder,
    seconds: 1_700_000_000,
    level: 0,
  });
}
