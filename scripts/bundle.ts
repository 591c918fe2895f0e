// Runs before packing. The package bundles hyper-express and our uWebSockets.js, because the
// `overrides` of package.json act only in the checkout. The bundled hyper-express would still name
// the git repository it wants, and npm would look there on the next install beside the package:
// so here it asks for the version that is bundled with it. `npm ci` undoes the edit.
import { readFileSync, writeFileSync } from 'node:fs';

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const path = 'node_modules/hyper-express/package.json';
const manifest = read(path);
manifest.dependencies['uWebSockets.js'] = read('vendor/uWebSockets.js/package.json').version;
writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
