/**
 * Keeps the sources without their types, so that a command of the checkout is quick: stripping
 * costs about 2 ms of processor time a file, and a command that calls a node loads a hundred.
 * The launcher loads this before anything else; the published build has nothing to strip.
 *
 * Plain JavaScript, because loading the compiler to read this file would cost what it saves.
 *
 * Invariant: an entry serves only the very text it was made from, on the same version of Node; where
 * the folder cannot be written, everything works as without it.
 */
const { hash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { enableCompileCache, registerHooks, stripTypeScriptTypes } = require('node:module');
const { join } = require('node:path');
const { fileURLToPath } = require('node:url');

// `npm ci` empties it, and who may write here may change the sources too.
const folder = join(__dirname, '../node_modules/.cache/platform-node');

// What hooks into the loader from outside, such as a test runner, does not bear a second one beside.
const isAlone = !/--(import|require|loader|experimental-loader)\b|(^| )-r /.test(
  process.env.NODE_OPTIONS ?? '',
);

if (isAlone) {
  enableCompileCache(join(folder, 'code'));
  registerHooks({
    load(url, context, next) {
      if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
      const text = readFileSync(fileURLToPath(url), 'utf8');
      return { format: 'module', source: stripped(url, text), shortCircuit: true };
    },
  });
}

function stripped(url, text) {
  const place = join(folder, `${hash('sha1', url)}.js`);
  const stamp = `// ${process.version} ${hash('sha1', text)}\n`;
  const kept = read(place);
  if (kept?.startsWith(stamp)) return kept.slice(stamp.length);
  const source = stripTypeScriptTypes(text);
  keep(place, stamp + source);
  return source;
}

function read(place) {
  try {
    return readFileSync(place, 'utf8');
  } catch {
    return undefined;
  }
}

function keep(place, content) {
  const fresh = `${place}.${process.pid}`;
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(fresh, content);
    renameSync(fresh, place);
  } catch {
    // Only speed is lost.
  }
}
