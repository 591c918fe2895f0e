/**
 * The sources without their types, kept in `node_modules/.cache`. Run as a program it strips all that
 * are not there yet.
 *
 * Plain JavaScript, because loading the compiler to read this file would cost what it saves.
 *
 * Invariant: an entry serves only the file it was made from, as long as its size and times are the
 * same, on the same version of Node; where the folder cannot be written, everything works as without
 * it.
 */
const { randomUUID } = require('node:crypto');
const {
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const { stripTypeScriptTypes } = require('node:module');
const { join, relative } = require('node:path');

// `npm ci` empties it, and who may write here may change the sources too.
const root = join(__dirname, '..');
const folder = join(root, 'node_modules/.cache/platform-node');

/** Where the stripped source is, and how it begins as long as it serves; its length follows. */
function entryOf(path) {
  const { size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return {
    place: join(folder, `${relative(root, path).replaceAll('/', '|')}.js`),
    stamp: `// ${process.version} ${size} ${mtimeNs} ${ctimeNs} `,
  };
}

/** Undefined where it is not there. */
function keptSource(path) {
  const { place, stamp } = entryOf(path);
  try {
    const kept = readFileSync(place, 'utf8');
    if (!kept.startsWith(stamp)) return undefined;
    const end = kept.indexOf('\n');
    const source = kept.slice(end + 1);
    // A loss of power may have cut it.
    return source.length === Number(kept.slice(stamp.length, end)) ? source : undefined;
  } catch {
    return undefined;
  }
}

function stripSource(path) {
  const { place, stamp } = entryOf(path);
  const source = stripTypeScriptTypes(readFileSync(path, 'utf8'));
  const fresh = `${place}.${randomUUID()}`;
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(fresh, `${stamp}${source.length}\n${source}`);
    renameSync(fresh, place);
  } catch {
    // Only speed is lost.
    try {
      rmSync(fresh, { force: true });
    } catch {}
  }
  return source;
}

/** A source that cannot be stripped fails where it is loaded. */
function stripAll() {
  for (const name of globSync(['bin/*.ts', 'src/**/*.ts'], { cwd: root })) {
    const path = join(root, name);
    try {
      if (keptSource(path) === undefined) stripSource(path);
    } catch {}
  }
}

module.exports = { folder, keptSource, stripSource };
if (require.main === module) stripAll();
