/**
 * Loads the sources without their types (stripped-sources.cjs), so that a command of the checkout is
 * quick. The launcher loads this before anything else; the published build has nothing to strip.
 *
 * What strips takes 20 MB, which a process that has loaded it keeps. So a process of its own strips
 * all that are missing, once; only where it cannot keep them does this one strip.
 */
const { spawnSync } = require('node:child_process');
const { accessSync, constants, mkdirSync } = require('node:fs');
const { enableCompileCache, registerHooks } = require('node:module');
const { join } = require('node:path');
const { fileURLToPath } = require('node:url');
const { folder, keptSource, stripSource } = require('./stripped-sources.cjs');

// What hooks into the loader from outside, such as a test runner, does not bear a second one beside.
const isAlone = !/--(import|require|loader|experimental-loader)\b|(^| )-r /.test(
  process.env.NODE_OPTIONS ?? '',
);

if (isAlone) {
  enableCompileCache(join(folder, 'code'));
  registerHooks({
    // Sources name each other by relative paths with their extension, so nothing must be searched.
    resolve(specifier, context, next) {
      const { parentURL } = context;
      const isOurs =
        specifier.startsWith('.') && specifier.endsWith('.ts') && parentURL?.endsWith('.ts');
      if (!isOurs || context.importAttributes?.type !== undefined) return next(specifier, context);
      return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true };
    },
    load(url, context, next) {
      if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
      return { format: 'module', source: stripped(fileURLToPath(url)), shortCircuit: true };
    },
  });
}

const STRIP_MS_MAX = 30_000;
let isAsked = false;

function stripped(path) {
  const kept = keptSource(path);
  if (kept !== undefined) return kept;
  if (!isAsked && isWritable()) {
    isAsked = true;
    const program = join(__dirname, 'stripped-sources.cjs');
    spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
      stdio: 'ignore',
      // Those of the caller, such as a debugger's, are not for it.
      env: { ...process.env, NODE_OPTIONS: '' },
      timeout: STRIP_MS_MAX,
    });
  }
  return keptSource(path) ?? stripSource(path);
}

function isWritable() {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
