/**
 * `npm run build`: makes dist/, what `npm pack` publishes. dist/code has the sources and packages in
 * one bundle, with the licences of the packages. The rest lies where the sources have it, because
 * they look for it there: pages and schemas, the examples, and our uWebSockets.js, which is in no
 * registry. That finds uws-pack, a dependency of the published package, further up.
 */
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { bundle } from './bundle.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const CODE = join(DIST, 'code');
const COMMAND = 'bin/platform-node.ts';
/** The folder of a package: scoped ones have two words. */
const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const LICENCE = /^(licen[cs]e|copying)/i;
/** What is installed with the published package, lies in it, or may be absent. */
const OUTSIDE = new Set([...Object.keys(packageJson.dependencies), 'uWebSockets.js', 'pg-native']);

rmSync(DIST, { recursive: true, force: true });
const { files, entries, inputs, packages } = await bundle({
  root: ROOT,
  place: CODE,
  urlOf: (source) => `new URL('../${compiled(source)}', import.meta.url).href`,
});
const absent = packages.filter((name) => !OUTSIDE.has(name));
if (absent.length > 0) throw new Error(`Neither joined nor a dependency: ${absent.join(', ')}`);
mkdirSync(CODE, { recursive: true });
for (const { name, bytes } of files) writeFileSync(join(CODE, name), bytes);
for (const [source, name] of Object.entries(entries)) {
  const path = join(DIST, compiled(source));
  mkdirSync(dirname(path), { recursive: true });
  const first = source === COMMAND ? '#!/usr/bin/env node\n' : '';
  writeFileSync(path, `${first}import '${relative(dirname(path), join(CODE, name))}';\n`);
}
writeFileSync(join(CODE, 'LICENCES.md'), licences());

cpSync('src', join(DIST, 'src'), {
  recursive: true,
  filter: (path) => statSync(path).isDirectory() || !path.endsWith('.ts'),
});
// Templates of `contract init` and `network init`, where they are from the sources, too.
for (const folder of ['examples', 'configs/systemd', 'configs/network']) {
  cpSync(folder, join(DIST, folder), { recursive: true });
}
cpSync('vendor/uWebSockets.js', join(DIST, 'node_modules/uWebSockets.js'), { recursive: true });

function compiled(source: string): string {
  return `${source.slice(0, -'.ts'.length)}.js`;
}

/** Their licences ask that their texts go with the code. */
function licences(): string {
  const folders = new Set(inputs.flatMap((input) => PACKAGE.exec(input)?.[1] ?? []));
  return [...folders].map(licenceOf).join('\n');
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Record<string, string>;
  const texts = readdirSync(folder)
    .filter((file) => LICENCE.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const text = texts.join('\n\n') || 'The package brings no text of its licence.';
  return `# ${name} ${version}: ${license}\n\n${text}\n`;
}
