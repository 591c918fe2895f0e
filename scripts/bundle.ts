// Completes dist/ after the compiler: files that are not TypeScript, such as pages and schemas, the
// examples, and our uWebSockets.js, which is in no registry, so that the published package contains
// it in dist/node_modules.
import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const target = 'dist/node_modules';
const kept = ['uws-pack']; // a dependency of the published package; found further up
const left = ['uWebSockets.js'];
const bundled = new Map<string, string>();

cpSync('src', 'dist/src', {
  recursive: true,
  filter: (path) => statSync(path).isDirectory() || !path.endsWith('.ts'),
});

// Templates of `contract init` and `network init`, where they are from the sources, too.
for (const folder of ['examples', 'configs/systemd', 'configs/network']) {
  cpSync(folder, `dist/${folder}`, { recursive: true });
}

rmSync(target, { recursive: true, force: true });
for (let name = left.pop(); name !== undefined; name = left.pop()) {
  if (bundled.has(name) || kept.includes(name)) continue;
  const source = packageFolder(name);
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  cpSync(source, join(target, name), { recursive: true, dereference: true });
  bundled.set(name, manifest.version);
  left.push(...Object.keys(manifest.dependencies ?? {}));
}
writeFileSync(
  join(target, 'bundled.json'),
  `${JSON.stringify(Object.fromEntries(bundled), null, 2)}\n`,
);

function packageFolder(name: string): string {
  const require = createRequire(join(process.cwd(), 'package.json'));
  for (const folder of require.resolve.paths(name) ?? []) {
    const path = join(folder, name);
    if (existsSync(join(path, 'package.json'))) return path;
  }
  throw new Error(`${name} is not installed; run \`npm ci\``);
}
