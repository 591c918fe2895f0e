/**
 * Runs the bundle of the checkout (kept-bundle.cjs) in place of its thousand modules, so that it starts
 * quickly. The launcher and its threads load this before anything else; the published package is a
 * bundle itself.
 *
 * A process of its own makes the bundle where it is missing or a source has changed. Where it cannot
 * be made or kept, and in other processes while it is made, Node runs the sources. `npm ci` runs this
 * alone, so that the first command finds a bundle.
 */
const { spawnSync } = require('node:child_process');
const { existsSync, mkdirSync, rmSync, statSync } = require('node:fs');
const { enableCompileCache, registerHooks } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { getEnvironmentData, isMainThread, setEnvironmentData } = require('node:worker_threads');
const { folder, keptBundle, list, root } = require('./kept-bundle.cjs');

const BUNDLE_MS_MAX = 30_000;
/** Threads run what their process runs, even if a source changes while it runs. */
const KEY = 'platform-node.bundle';

// What hooks into the loader from outside, such as a test runner, wants to see the sources.
const isAlone = !/--(import|require|loader|experimental-loader)\b|(^| )-r /.test(
  process.env.NODE_OPTIONS ?? '',
);

// Until the program takes the signal, Node would open a debugger, which obeys any user of the machine.
if (isMainThread) process.on('SIGUSR1', () => undefined);

if (isAlone) {
  const bundle = isMainThread ? (keptBundle() ?? madeBundle()) : getEnvironmentData(KEY);
  if (bundle !== undefined) run(bundle);
}

function run({ place, entries }) {
  setEnvironmentData(KEY, { place, entries });
  enableCompileCache(`${place}/compiled`);
  const base = `${pathToFileURL(place).href}/`;
  const found = (url) => ({ url, format: 'module', shortCircuit: true });
  registerHooks({
    resolve(specifier, context, next) {
      const entry = entries[specifier];
      if (entry !== undefined) return found(entry);
      // Files of the bundle name each other, so nothing must be searched.
      const isOfBundle = specifier.startsWith('./') && context.parentURL?.startsWith(base);
      return isOfBundle ? found(`${base}${specifier.slice(2)}`) : next(specifier, context);
    },
  });
}

function madeBundle() {
  const lock = `${list}.lock`;
  if (!existsSync(join(root, 'node_modules/esbuild')) || !isLocked(lock)) return undefined;
  try {
    spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(root, 'scripts/bundle.ts')],
      {
        stdio: 'ignore',
        // Those of the caller, such as a debugger's, are not for it.
        env: { ...process.env, NODE_OPTIONS: '' },
        timeout: BUNDLE_MS_MAX,
      },
    );
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
  return keptBundle();
}

/** False where another process makes the bundle, or where nothing can be written. */
function isLocked(lock) {
  try {
    mkdirSync(folder, { recursive: true });
    const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
    // Of a process that was killed.
    if (made < Date.now() - 2 * BUNDLE_MS_MAX) rmSync(lock, { recursive: true, force: true });
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}
