/** Images of the contracts that are measured, and the engine that runs them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Engine, sharedEngine } from '../../test/containers/engine.ts';
import { nodeImage, type TestImage } from '../../test/containers/images.ts';
import { NotInstalledError } from '../measure/contender.ts';

export const GRPC_LABEL = 'LABEL protocol=grpc';
/** What a call of the echo gives and gets back. */
export const ECHO_VALUE = [{ key: 'value', value: 'echo' }];

/** Throws NotInstalledError where this machine has no engine. */
export async function benchEngine(): Promise<Engine> {
  const engine = await sharedEngine();
  if (typeof engine === 'string') throw new NotInstalledError(engine);
  return engine;
}

/** The text of a contract in this folder. */
export const source = (name: string): string =>
  readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8');

/** A label that differs makes another image, which gets a container of its own. */
export const echoImage = (engine: Engine, n: number): Promise<TestImage> =>
  nodeImage(
    engine,
    'bench-echo',
    { 'package.json': { bytes: '{"type":"module"}' }, 'echo.ts': { bytes: source('echo.ts') } },
    'echo.ts',
    [GRPC_LABEL, `LABEL n=${n}`],
  );
