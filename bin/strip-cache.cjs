/**
 * Keeps the sources without their types, so that a command of the checkout is quick: stripping
 * costs about 2 ms of processor time a file, and a command that calls a node loads a hundred.
 * The launcher loads this before anything else; the published build has nothing to strip.
 *
 * Plain JavaScript, because loading the compiler to read this file would cost what it saves.
 *
 * Invariant: an entry serves only the file it was made from, as long as its size and times are the
 * same, on the same version of Node; where the folder cannot be written, everything works as without
 * it.
 */
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const { enableCompileCache, registerHooks, stripTypeScriptTypes } = require('node:module');
const { join, relative } = require('node:path');
const { fileURLToPath } = require('node:url');

// `npm ci` empties it, and who may write here may change the sources too.
const root = join(__dirname, '..');
const folder = join(root, 'node_modules/.cache/platform-node');

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

function stripped(path) {
  const place = join(folder, `${relative(root, path).replaceAll('/', '|')}.js`);
  const { size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  const stamp = `// ${process.version} ${size} ${mtimeNs} ${ctimeNs}\n`;
  const kept = read(place);
  if (kept?.startsWith(stamp)) return kept.slice(stamp.length);
  const source = stripTypeScriptTypes(readFileSync(path, 'utf8'));
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
