/**
 * Keeps the engine that the test files of a run share: `keeper.ts FOLDER` runs dockerd in that folder
 * until no test has used it for a while, then ends it and removes the folder.
 */
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeDaemon, startDaemon } from './daemon.ts';
import { FAILED, KEEPER_PID, lastUse } from './engine.ts';

const IDLE_MS = 90_000;
const LOOK_MS = 1000;

const folder = process.argv[2]!;
writeFileSync(join(folder, KEEPER_PID), String(process.pid));
try {
  const child = await startDaemon(folder);
  const look = setInterval(async () => {
    const used = lastUse(folder);
    const isIdle = !existsSync(used) || Date.now() - statSync(used).mtimeMs > IDLE_MS;
    if (!isIdle && child.exitCode === null && child.signalCode === null) return;
    clearInterval(look);
    // From here on a test that asks for the engine waits until the folder is gone.
    rmSync(used, { force: true });
    await removeDaemon(child, folder);
  }, LOOK_MS);
} catch (cause) {
  writeFileSync(join(folder, FAILED), String(cause));
  process.exitCode = 1;
}
