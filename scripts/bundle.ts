// Completes dist/ after the compiler: files that are not TypeScript, such as pages and schemas, the
// examples, and our uWebSockets.js, which is in no registry. It finds uws-pack, a dependency of the
// published package, further up.
import { cpSync, rmSync, statSync } from 'node:fs';

const target = 'dist/node_modules';

cpSync('src', 'dist/src', {
  recursive: true,
  filter: (path) => statSync(path).isDirectory() || !path.endsWith('.ts'),
});

// Templates of `contract init` and `network init`, where they are from the sources, too.
for (const folder of ['examples', 'configs/systemd', 'configs/network']) {
  cpSync(folder, `dist/${folder}`, { recursive: true });
}

rmSync(target, { recursive: true, force: true });
cpSync('vendor/uWebSockets.js', `${target}/uWebSockets.js`, { recursive: true });
