/** The images of a hostile author, and that of a good one, whose contract counts its calls. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Engine } from '../../../containers/engine.ts';
import { filesOf, nodeImage, type TestImage } from '../../../containers/images.ts';

const GRPC = 'LABEL protocol=grpc';
const CLIENT = fileURLToPath(new URL('../../../../examples/typescript/client', import.meta.url));
const PROGRAM = readFileSync(new URL('program.ts', import.meta.url), 'utf8');

const COUNTING = `import { serve } from './client/contract.ts';
await serve({
  create: () => ({ count: 0n }),
  call: async (_call, state) => ({ count: ((await state.get('count')) ?? 0n) + 1n }),
});
`;

export type HostileRole = 'frames' | 'ranges' | 'rows' | 'patterns' | 'empties' | 'stale' | 'again';
export type SeveralRole = 'slow' | 'ends' | 'silent';
/** What they attack is the machine. */
export type MachineRole = 'greedy' | 'connections' | 'traffic';

export const goodImage = (engine: Engine): Promise<TestImage> =>
  nodeImage(
    engine,
    'good',
    { 'main.ts': { bytes: COUNTING }, ...filesOf(CLIENT, 'client') },
    'main.ts',
    [GRPC],
  );

/** `number` tells images of the same role apart. */
export const hostileImage = (
  engine: Engine,
  role: HostileRole | SeveralRole | MachineRole,
  addresses: readonly string[],
  number = 0,
): Promise<TestImage> =>
  nodeImage(
    engine,
    'hostile',
    { 'program.ts': { bytes: PROGRAM }, addresses: { bytes: addresses.join('\n') } },
    'program.ts',
    ['USER root', GRPC, `ENV ROLE=${role} NUMBER=${number}`],
  );
