/**
 * `npm run release -- [--out=FOLDER] [--tarball=FILE] [--level=N]`: what a release consists of, in FOLDER
 * (`release/`): the npm tarball, the Debian package made of it, and their checksums in SHA256SUMS. Other files of FOLDER stay.
 *
 * A tarball that is given is not built again; without compression (level 0) the package is there sooner.
 * The same sources, dependencies and Node give the same bytes: all times are that of the commit, or
 * SOURCE_DATE_EPOCH. Nothing is fetched.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { buildPackage, whyNoPackage } from './release/debian.ts';
import { CHECKSUMS, clearReleased } from './release/folder.ts';

const ROOT = join(import.meta.dirname, '..');
/** The time that npm gives all files of a tarball. */
const TIME_OF_NPM = 499_162_500;

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(ROOT, 'release') },
    tarball: { type: 'string' },
    level: { type: 'string', default: '6' },
  },
});

const reason = whyNoPackage();
if (reason !== undefined) {
  console.error(`The Debian package cannot be built: ${reason}`);
  process.exit(1);
}
const out = resolve(values.out);
const tarball = join(out, basename(values.tarball ?? `platform-node-${packageJson.version}.tgz`));
const given = values.tarball && resolve(values.tarball);
clearReleased(out, given);
if (given === undefined) {
  const pack = ['pack', '--silent', '--pack-destination', out];
  execFileSync('npm', pack, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
} else if (given !== tarball) {
  copyFileSync(given, tarball);
}
const level = Number(values.level);
const deb = buildPackage({ root: ROOT, tarball, out, seconds: releaseSeconds(), level });

const sums = [tarball, deb].map((file) => `${sha256(file)}  ${basename(file)}\n`);
writeFileSync(join(out, CHECKSUMS), sums.join(''));
process.stdout.write(sums.join(''));

/** When the sources were committed, so that the same sources give the same package. */
function releaseSeconds(): number {
  const given = process.env['SOURCE_DATE_EPOCH'];
  if (given !== undefined) return Number(given);
  try {
    const log = ['log', '-1', '--format=%ct'];
    return Number(execFileSync('git', log, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch {
    return TIME_OF_NPM;
  }
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
