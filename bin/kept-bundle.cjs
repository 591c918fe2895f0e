/**
 * The bundle of this checkout: where `scripts/bundle.ts` keeps it, and whether it still is what the
 * sources say.
 *
 * Plain JavaScript, because what strips types would cost the start that the bundle saves. Every
 * command looks at a thousand files here, so it is plain in other ways too.
 *
 * Invariant: a bundle serves only the files it was made from, as long as their sizes and times are the
 * same, and only the packages of the last `npm ci` or `npm install`.
 */
const { existsSync, readFileSync, statSync } = require('node:fs');
const { dirname } = require('node:path');

const root = dirname(__dirname);
// `npm ci` empties it, and who may write here may change the sources too.
const folder = `${root}/node_modules/.cache/platform-node`;
// Another checkout may have the same node_modules through a link.
const list = `${folder}/${Buffer.from(root).toString('base64url').slice(-200)}.json`;

/** Size and times of a path below the root; empty where nothing is there. */
function stampOf(path) {
  const stat = statSync(`${root}/${path}`, { throwIfNoEntry: false });
  return stat === undefined ? [] : [stat.size, stat.mtimeMs, stat.ctimeMs];
}

/** Undefined where none is there, or where a source has changed since. */
function keptBundle() {
  let kept;
  try {
    kept = JSON.parse(readFileSync(list, 'utf8'));
  } catch {
    return undefined;
  }
  if (kept.root !== root || !existsSync(kept.place)) return undefined;
  for (const [path, size, modified, changed] of kept.stamps) {
    const [nowSize, nowModified, nowChanged] = stampOf(path);
    if (nowSize !== size || nowModified !== modified || nowChanged !== changed) return undefined;
  }
  return kept;
}

module.exports = { root, folder, list, stampOf, keptBundle };
