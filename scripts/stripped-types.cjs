/**
 * Keeps each TypeScript module without its types, for all test files and their threads. Node strips a
 * module anew in every process, which takes half of the time to load a node.
 *
 * scripts/test-file.ts preloads this. A copy is found by the hash of its source, so none is ever stale.
 */
const { hash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { registerHooks, stripTypeScriptTypes } = require('node:module');
const { join } = require('node:path');
const { fileURLToPath } = require('node:url');
const { threadId } = require('node:worker_threads');

const folder = join(__dirname, '../node_modules/.cache/stripped', process.version);
mkdirSync(folder, { recursive: true });

registerHooks({
  resolve(specifier, context, next) {
    // A path with its extension leaves nothing to search.
    return /^\.\.?\/[^?#]*\.ts$/.test(specifier)
      ? { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true }
      : next(specifier, context);
  },
  load(url, context, next) {
    if (!/^file:[^?#]*\.ts(?:[?#]|$)/.test(url)) return next(url, context);
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
    return readFileSync(kept, 'utf8');
  } catch {
    // Nobody has loaded it yet.
  }
  const stripped = quietly(() => stripTypeScriptTypes(source));
  if (stripped === undefined) return undefined;
  // Other processes see it whole or not at all.
  const own = `${kept}.${process.pid}.${threadId}`;
  writeFileSync(own, stripped);
  renameSync(own, kept);
  return stripped;
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
