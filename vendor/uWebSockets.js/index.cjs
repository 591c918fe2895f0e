// uWebSockets.js, which its authors publish as a git repository only.
// uws-pack carries the same addons prebuilt, but its exports hide them from require();
// so this package looks for the file itself and loads the one made for the running Node.
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const { platform, arch, versions } = process;
const name = `uws_${platform}_${arch}_${versions.modules}.node`;
const file = module.paths
  .map((folder) => join(folder, 'uws-pack', 'dist', 'bin', name))
  .find((path) => existsSync(path));
if (file === undefined) {
  throw new Error(
    `HTTP server: no addon ${name}; Node 22 on a glibc Linux, macOS or Windows is needed`,
  );
}
module.exports = require(file);
