/**
 * Joins tap and its plugins into one file, for all test files: its hundreds of modules take half of the
 * time of a small one to load.
 *
 * scripts/test-file.ts preloads this. The file goes by the hash of package-lock.json. tap leaves frames of
 * its packages out of stack traces by their folder, `@tapjs`, so the file lies in one of that name.
 */
const { hash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, rmSync } = require('node:fs');
const { registerHooks } = require('node:module');
const { dirname, join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { isMainThread } = require('node:worker_threads');

const root = join(__dirname, '..');

// Threads of a test file inherit the flag that preloads this, and have no tests.
if (isMainThread) {
  const version = hash('sha256', readFileSync(join(root, 'package-lock.json'))).slice(0, 16);
  const file = join(root, 'node_modules/.cache/tap', version, 'node_modules/@tapjs/tap.mjs');
  if (existsSync(file) || joined(file)) {
    const one = { url: pathToFileURL(file).href, format: 'module', shortCircuit: true };
    registerHooks({
      resolve: (specifier, context, next) => (specifier === 'tap' ? one : next(specifier, context)),
    });
  }
}

/** Other processes see it whole or not at all. False without room on the disk: tap loads as ever. */
function joined(file) {
  const own = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    require('esbuild').buildSync({
      entryPoints: [join(root, 'node_modules/tap/dist/esm/index.js')],
      outfile: own,
      bundle: true,
      platform: 'node',
      format: 'esm',
      // scripts/test-domain.cjs takes the place of the first; tests load the second by themselves.
      external: ['async-hook-domain', 'typescript'],
      banner: {
        js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
      },
      logLevel: 'silent',
    });
    renameSync(own, file);
    return true;
  } catch {
    rmSync(own, { force: true });
    return false;
  }
}
