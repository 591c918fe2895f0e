/**
 * Keeps each TypeScript module without its types, for all test files and their threads. Node strips a
 * module anew in every process, which takes half of the time to load a node.
 *
 * scripts/test-file.ts preloads this. A copy is found by the hash of its source, so none is ever stale.
 */
const { hash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { registerHooks, stripTypeScriptTypes } = require('node:module');
const { join } = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');
const { threadId } = require('node:worker_threads');

const folder = join(__dirname, '../node_modules/.cache/stripped', process.version);
/** All of the checkout are ES modules. */
const root = pathToFileURL(join(__dirname, '../')).href;

registerHooks({
  resolve(specifier, context, next) {
    // A path with its extension leaves nothing to search.
    return /^\.\.?\/[^?#]*\.ts$/.test(specifier) && context.parentURL?.startsWith(root)
      ? { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true }
      : next(specifier, context);
  },
  load(url, context, next) {
    if (!url.startsWith(root) || !/^[^?#]*\.ts(?:[?#]|$)/.test(url)) return next(url, context);
    const source = withoutTypes(readFileSync(fileURLToPath(url), 'utf8'));
    return source === undefined
      ? next(url, context)
      : { format: 'module', source, shortCircuit: true };
  },
});

/** Undefined where Node cannot strip it: then Node says why. */
function withoutTypes(source) {
  const kept = join(folder, hash('sha256', source));
  try {
    const text = readFileSync(kept, 'utf8');
    // Types leave spaces, so a copy is as long as its source; a shorter one was cut off.
    if (text.length === source.length) return text;
  } catch {
    // Nobody has loaded it yet.
  }
  const stripped = quietly(() => stripTypeScriptTypes(source));
  if (stripped === undefined) return undefined;
  keep(kept, stripped);
  return stripped;
}

/** Other processes see it whole or not at all. Without room on the disk, each strips for itself. */
function keep(kept, stripped) {
  const own = `${kept}.${process.pid}.${threadId}`;
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(own, stripped);
    renameSync(own, kept);
  } catch {
    rmSync(own, { force: true });
  }
}

/** Without the warning that stripping is experimental: it does not reach threads by a flag. */
function quietly(strip) {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return strip();
  } catch {
    return undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
